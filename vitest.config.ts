import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** These take minutes: begun last, the other workers would wait for them. */
const LONG = /\/(loss-[a-z]+|faults|drain|unknowns|pods|main-job|run)\.test\.ts$/;

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isLong = ({ moduleId }: TestSpecification) => LONG.test(moduleId);
    const sorted = await super.sort(files);
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))];
  }
}

/**
 * What a busy machine may do to a test on real processes: it was too slow, or took too much. Such a test runs once more, and .ci/run
 * names it. A wrong answer or a lost line is none of these.
 */
const ONCE_MORE = {
  count: 1,
  condition: /^not within \d|within \d+ ms:|timed out in \d|^expected [\d.]+ to be less than/,
};

export default defineConfig({
  test: {
    // The end-to-end tests mostly wait for a Fluentd: four files at a time fit on two cores.
    maxWorkers: 4,
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        test: {
          name: 'unit',
          retry: ONCE_MORE,
          include: ['test/**/*.test.ts'],
          exclude: ['test/e2e/**', 'test/cluster/**'],
          testTimeout: 120_000,
          // Some make the bundle first: two builds and a compression.
          hookTimeout: 120_000,
        },
      },
      {
        test: {
          name: 'e2e',
          retry: ONCE_MORE,
          // Of a failure in CI this message is all that is left: it has to show the whole outcome.
          chaiConfig: { truncateThreshold: 1_500 },
          include: ['test/e2e/**/*.test.ts'],
          testTimeout: 180_000,
          // Within a file, where its tests run side by side.
          maxConcurrency: 3,
          hookTimeout: 120_000,
        },
      },
      {
        test: {
          // Pods on a real cluster: npm run test:cluster.
          name: 'cluster',
          retry: ONCE_MORE,
          chaiConfig: { truncateThreshold: 1_500 },
          include: ['test/cluster/**/*.test.ts'],
          globalSetup: 'test/cluster/setup.ts',
          testTimeout: 300_000,
          // More Pods at a time make each other wait.
          maxConcurrency: 2,
        },
      },
    ],
  },
});

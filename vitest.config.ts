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

const E2E = 'test/e2e/**';
/** Their mocks of modules would stay for the files after them. */
const MOCKED = 'test/**/*.mocked.test.ts';
const LIMITS = { testTimeout: 120_000, hookTimeout: 120_000 };

export default defineConfig({
  test: {
    globalSetup: 'test/support/build.ts',
    // The end-to-end tests mostly wait for a Fluentd: four files at a time fit on two cores.
    maxWorkers: 4,
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        test: {
          name: 'unit',
          // The files share their workers: a start for each takes longer than its tests.
          isolate: false,
          include: ['test/**/*.test.ts'],
          exclude: [E2E, MOCKED],
          ...LIMITS,
        },
      },
      { test: { name: 'mocked', include: [MOCKED], exclude: [E2E], ...LIMITS } },
      {
        test: {
          name: 'e2e',
          // Of a failure in CI this message is all that is left: it has to show the whole outcome.
          chaiConfig: { truncateThreshold: 1_500 },
          include: ['test/e2e/**/*.test.ts'],
          testTimeout: 180_000,
          // Within a file, where its tests run side by side.
          maxConcurrency: 3,
          hookTimeout: 120_000,
        },
      },
    ],
  },
});

import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** A loss matrix takes minutes: begun last, the other workers would wait for it. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isLong = ({ moduleId }: TestSpecification) => moduleId.includes('/loss-');
    const sorted = await super.sort(files);
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))];
  }
}

export default defineConfig({
  test: {
    // The end-to-end tests mostly wait for a Fluentd: three files at a time fit on two cores.
    maxWorkers: 3,
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        test: {
          name: 'unit',
          include: ['test/**/*.test.ts'],
          exclude: ['test/e2e/**'],
          testTimeout: 120_000,
          // Some make the bundle first: two builds and a compression.
          hookTimeout: 120_000,
        },
      },
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

import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** These take longest: begun last, the other workers would wait for them. */
const LONGEST = [
  'asleep asleep-troubles placements situations workloads inject',
  'situations-.* image neighbours witness-.* fluent-conf-oracle delivered-.* ends.smoke faults drain run',
  'simulation fuzz',
].flatMap((names) => names.split(' ').map((name) => new RegExp(`/${name}\\.test\\.ts$`)));

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification) => {
      const index = LONGEST.findIndex((name) => name.test(moduleId));
      return index === -1 ? LONGEST.length : index;
    };
    const sorted = await super.sort(files);
    return sorted.toSorted((one, other) => rank(one) - rank(other));
  }
}

/** The name and the place of a file say where it belongs; see CONTRIBUTING.md. */
const E2E = 'test/e2e/**/*.test.ts';
const SMOKE = 'test/e2e/**/*.smoke.test.ts';
/** Pods on a real cluster: npm run test:cluster. */
const CLUSTER = 'test/cluster/**/*.test.ts';
/** Their mocks of modules would stay for the files after them. */
const MOCKED = 'test/**/*.mocked.test.ts';
const OWN = 'test/own/*.test.ts';

const unit = { testTimeout: 120_000, hookTimeout: 120_000 };
const e2e = {
  // Of a failure in CI this message is all that is left: it has to show the whole outcome.
  chaiConfig: { truncateThreshold: 1_500 },
  testTimeout: 180_000,
  hookTimeout: 120_000,
  // Within a file, where its tests run side by side.
  maxConcurrency: 3,
};

export default defineConfig({
  test: {
    globalSetup: 'test/support/build.ts',
    reporters: ['default', './test/support/totals.ts'],
    // The end-to-end tests mostly wait for a Fluentd: four files at a time fit on two cores.
    maxWorkers: 4,
    sequence: { sequencer: LongestFirst },
    projects: [
      // The unit files share their workers: a start for each takes longer than its tests.
      {
        test: {
          name: 'unit',
          include: ['test/**/*.test.ts'],
          exclude: [E2E, CLUSTER, MOCKED, OWN],
          isolate: false,
          ...unit,
        },
      },
      { test: { name: 'mocked', include: [MOCKED], ...unit } },
      {
        test: {
          name: 'smoke',
          include: [SMOKE],
          ...e2e,
        },
      },
      // Fluentd's own tests measure seconds: nothing else runs beside them. The longest mostly sleep.
      { test: { name: 'own', include: [OWN], ...e2e, maxConcurrency: 5 } },
      { test: { name: 'e2e', include: [E2E], exclude: [SMOKE], ...e2e } },
      {
        test: {
          name: 'cluster',
          include: [CLUSTER],
          globalSetup: 'test/cluster/setup.ts',
          ...e2e,
          testTimeout: 300_000,
          // More Pods at a time make each other wait.
          maxConcurrency: 2,
        },
      },
    ],
  },
});

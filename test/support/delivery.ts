import { beforeEach, describe, test as plainTest } from 'vitest';
import { Site } from './delivery-site.ts';
import { requireFluentd, TESTED_VERSIONS } from './real-fluentd.ts';

export { type Delivery, type Ended, endOf, runDelivery, startBeside, watchDelivery } from './deliver.ts';

/** For what has little to do with the version. */
export const ONE_VERSION = TESTED_VERSIONS.filter((one) => one !== '1.14.6').slice(-1);
/** Seconds within which posidle ends where it does not wait for the drain timeout, which is 60 s here: a busy machine is slow. */
export const SOON = 45;

/** Tests on each of these versions, side by side: they wait more than they work. Where a version is missing its tests are skipped. */
export function onFluentd(versions: readonly string[], tests: (version: string) => void): void {
  describe.each(versions)('with Fluentd %s', { concurrent: true }, (version) => {
    beforeEach(({ skip }) => void requireFluentd(version, { skip }));
    tests(version);
  });
}

/** Everything was delivered, and that is proven. */
export const DRAINED = {
  lost: 0,
  code: 0,
  outcome: { outcome: 'drained', left: { count: 0 }, doubts: { count: 0 } },
};

declare module 'vitest' {
  interface TaskMeta {
    /** Fluentd's log and posidle's in a failed test. `.ci/run` prints it. */
    log?: string;
  }
}

/** vitest's `test` with a site of its own for each test. */
export const test = plainTest.extend('site', async ({ task }, { onCleanup }) => {
  const site = await Site.open();
  onCleanup(async () => {
    const isFailed = (task.result?.errors ?? []).length > 0;
    if (isFailed) task.meta.log = site.told;
    await site.close();
  });
  return site;
});

import { describe, it } from 'vitest';
import { expectNoLoss, promised, RUN_LIMIT } from '../loss/promise.ts';
import { missingFluentd, TESTED_VERSIONS } from '../support/real-fluentd.ts';

for (const version of TESTED_VERSIONS) {
  const missing = missingFluentd(version);
  describe.skipIf(missing !== undefined)(`posidle loses nothing, Fluentd ${version}`, () => {
    const all = promised(version, { strategy: ['posidle'] });
    it.each(all)('$title', ({ cell }) => expectNoLoss(cell), RUN_LIMIT);
    if (missing !== undefined) it(missing, () => undefined);
  });
}

import { describe, it } from 'vitest';
import { expectKept, promised, RUN_LIMIT } from '../loss/promise.ts';
import { skipFor } from '../support/needs.ts';
import { missingFluentd, TESTED_VERSIONS } from '../support/real-fluentd.ts';

/** The sleeping main, 15, stands among the triggers. */
const SCENARIOS = Array.from({ length: 14 }, (_, index) => index + 1);

for (const version of TESTED_VERSIONS) {
  const missing = missingFluentd(version);
  // They wait, more than they work: side by side they take a third of the time.
  describe(`posidle loses nothing, Fluentd ${version}`, { concurrent: true }, () => {
    skipFor(missing);
    const all = promised(version, { strategy: ['posidle'], only: SCENARIOS });
    it.each(all)('$title', ({ cell }) => expectKept(cell), RUN_LIMIT);
  });
}

import { describe, it } from 'vitest';
import { expectKept, promised, RUN_LIMIT } from '../loss/promise.ts';
import { skipFor } from '../support/needs.ts';
import { missingFluentd, NEWEST } from '../support/real-fluentd.ts';

/** A burst, a new file, a file buffer, a main that sleeps. */
const SCENARIOS = [2, 3, 4, 15];
/** Of the lines of the whole scenario: what a trigger does, 60,000 show as well as 2,000,000. */
const VOLUME = 0.03;
const missing = missingFluentd(NEWEST);

// They wait, more than they work: side by side they take a third of the time.
describe(`posidle loses nothing, whatever the trigger, Fluentd ${NEWEST}`, { concurrent: true }, () => {
  skipFor(missing);
  const all = promised(NEWEST, { triggers: true, only: SCENARIOS });
  it.each(all)('$title', ({ cell }) => expectKept(cell, VOLUME), RUN_LIMIT);
});

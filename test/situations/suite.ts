import { expect } from 'vitest';
import { onFluentd, test } from '../support/delivery.ts';
import { TESTED_VERSIONS } from '../support/real-fluentd.ts';
import { faultsOf } from './judge.ts';
import { play } from './play.ts';
import { roadOn, SITUATIONS, versionsOf } from './table.ts';

/** Each row that is for this version is a test. A file for each version: they run side by side. */
export function situationsOn(version: string): void {
  if (!TESTED_VERSIONS.includes(version)) {
    test(`Fluentd ${version}`, ({ skip }) => skip('FLUENTD_VERSIONS omits it'));
    return;
  }
  onFluentd([version], () => {
    const here = SITUATIONS.filter((one) => versionsOf(one).includes(version));
    test.for(here)('$stage: $what ($name)', async (situation, { site }) => {
      const ended = await play(site, situation, { version, road: roadOn(version, situation) });
      const faults = faultsOf(situation, ended);
      expect(faults, `${faults.join(', ')}: ${JSON.stringify(ended.outcome)}`).toEqual([]);
    });
  });
}

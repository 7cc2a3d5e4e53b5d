import { expect } from 'vitest';
import { faultsOf } from '../situations/judge.ts';
import { play } from '../situations/play.ts';
import { roadOn, SITUATIONS, versionsOf } from '../situations/table.ts';
import { onFluentd, test, VERSIONS_AND_OLDEST } from '../support/delivery.ts';

onFluentd(VERSIONS_AND_OLDEST, (version) => {
  const here = SITUATIONS.filter((one) => versionsOf(one).includes(version));
  test.for(here)('$stage: $what ($name)', async (situation, { site }) => {
    const ended = await play(site, situation, { version, road: roadOn(version, situation) });
    expect(faultsOf(situation, ended), JSON.stringify(ended.outcome)).toEqual([]);
  });
});

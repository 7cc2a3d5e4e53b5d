import { beforeEach, describe, expect, inject, test } from 'vitest';
import { SCENARIOS } from './bench/scenarios.ts';
import { manifestsOf, STRATEGIES } from './bench/strategies.ts';
import { Destination } from './destination.ts';
import { play } from './play.ts';

/** Here lines may be lost, and the outcome says so. */
const TOLD: Readonly<Record<string, RegExp>> = {
  killed: /"kind":"worker-died"/,
  'killed-file': /"kind":"worker-died"/,
  rotated: /"kind":"(nobody-saw-it-read|closed-unread)"/,
  'no-newline': /"outcome":"not-drained"/,
};

describe('the hook in the scenarios of the bench', { concurrent: true }, () => {
  beforeEach(({ skip }) => skip(inject('noCluster') !== '', inject('noCluster')));

  test.each(SCENARIOS)('no line is lost without a report: $title', async (scenario) => {
    const [hook] = STRATEGIES.filter(({ name }) => name === 'hook');
    if (hook === undefined) throw new Error('no hook');
    const destination = await Destination.start();
    try {
      const manifests = manifestsOf(scenario, hook, destination.endpoint);
      const { containers } = await play(manifests, scenario.acts?.(destination));
      const message = containers.fluentd?.message ?? '';
      const lost = scenario.lines - destination.lines.size;
      const told = TOLD[scenario.name];
      const drained = expect.stringContaining('"outcome":"drained"');
      if (told === undefined) expect({ lost, message }).toEqual({ lost: 0, message: drained });
      else if (lost > 0) expect(message).toMatch(told);
      expect(containers.fluentd?.code).not.toBe(137);
    } finally {
      destination.stop();
    }
  });
});

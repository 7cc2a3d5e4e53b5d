import { describe, expect, test, vi } from 'vitest';
import { exitCodeOf } from '../../src/core/drain/outcome.ts';
import type { Policy } from '../../src/core/drain/policy.ts';
import type { Witness } from '../../src/core/witness/reports.ts';
import { run } from '../support/builders.ts';
import { FakeHost } from '../support/fake-host.ts';
import { holding, sight } from '../support/said.ts';
import { alive, gone, NOT_BELIEVED, SILENT } from '../support/witnesses.ts';

const DIR = '/posidle';

/** A Pod whose main has ended, with a Fluentd in another container. */
function world() {
  const host = new FakeHost();
  const told: string[] = [];
  host.request('main-ended');
  host.onWitnessTold = (_, word) => {
    told.push(word);
    return true;
  };
  return { host, told };
}

const drained = (host: FakeHost, rules: Partial<Policy> = {}) =>
  run(
    host,
    { quiet: 'off', podEnds: true, grace: 30_000, startTimeout: 'off', ...rules },
    { posFiles: [], witness: DIR, fluentd: { by: 'witness' } },
  );

describe('in an ending Pod', () => {
  test('a witness that is not believed is asked ten times a second at most, until the time is over', async () => {
    const { host } = world();
    host.witnesses = [NOT_BELIEVED];
    const ask = vi.spyOn(host, 'askWitnesses');
    const { outcome } = await drained(host);
    expect(outcome).toMatchObject({ outcome: 'unproven', doubts: { worst: [{ kind: 'not-believed' }] } });
    expect(host.now()).toBeGreaterThan(20_000);
    expect(ask.mock.calls.length).toBeLessThan(host.now() / 100 + 10);
  });

  test.each([2_500, 5_000, 10_000])(
    'a worker that hangs for all %i ms of the grace period keeps posidle from no outcome',
    async (grace) => {
      const { host } = world();
      host.tellWitness = async (_dir, _worker, _word, patience = 2_000) => {
        await host.sleep(host.now() + Math.min(patience, 2_000));
        return false;
      };
      host.witnesses = [alive({ outputs: [holding('a')] })];
      const { outcome, report } = await drained(host, { grace });
      expect(outcome).toMatchObject({ outcome: 'not-drained', left: { worst: [{ kind: 'held' }] } });
      const what = 'no witness took the order, and posidle sees no process of Fluentd';
      expect(report.done).toContainEqual({ what });
      expect(host.now()).toBeLessThan(grace);
    },
  );

  test.each([5_000, 10_000, 20_000])(
    'a witness that is silent for all %i ms of the grace period hides nothing of another one',
    async (grace) => {
      const { host } = world();
      host.askWitnesses = async (_dir, _question, patience = 2_000) => {
        const end = host.now() + Math.min(patience, 2_000);
        await new Promise<void>((resolve) => host.at(end, () => resolve()));
        return { at: host.now(), witnesses: host.witnesses };
      };
      host.witnesses = [alive({ outputs: [holding('a')] }), { ...SILENT, worker: '9-9.sock' }];
      const { outcome } = await drained(host, { grace });
      expect(outcome).toMatchObject({ outcome: 'not-drained', left: { worst: [{ kind: 'held' }] } });
      expect(outcome.doubts.worst).toContainEqual(
        expect.objectContaining({ kind: 'no-answer', about: 'worker (pid 9)' }),
      );
      expect(host.now()).toBeLessThan(grace);
    },
  );

  test('a Fluentd with nothing left is left to the kubelet, at once', async () => {
    const { host, told } = world();
    host.witnesses = [alive()];
    const { outcome, report } = await drained(host);
    expect(outcome).toMatchObject({ end: 'left-to-kubelet', trigger: 'main-ended', outcome: 'drained' });
    expect(told).toEqual([]);
    expect(report.path).toEqual(['waiting', 'draining', 'stopped']);
    expect(host.now()).toBeLessThan(100);
  });

  test('a Fluentd that never listens is given up when Fluentd needs the rest of the grace period for its end', async () => {
    const { host } = world();
    host.sign = 'starting';
    const { outcome } = await drained(host);
    expect(outcome).toMatchObject({ end: 'no-fluentd', why: expect.stringContaining('can ask no witness') });
    expect(exitCodeOf(outcome, { strict: false })).toBe(4);
    expect([host.now() >= 20_000, host.now() < 22_000]).toEqual([true, true]);
  });

  test('a Fluentd that has ended is not waited for, and nobody says "drained"', async () => {
    const { host } = world();
    host.sign = 'ended';
    host.witnesses = [gone()];
    const { outcome } = await drained(host);
    expect(outcome).toMatchObject({ end: 'no-fluentd', outcome: 'unproven' });
    expect(exitCodeOf(outcome, { strict: false })).toBe(4);
    expect(host.now()).toBeLessThan(2_500);
  });

  test('a Fluentd that ends in the drain without a last report is not waited for', async () => {
    const { host } = world();
    host.witnesses = [alive({ outputs: [holding('a')] })];
    host.at(5_000, (h) => {
      h.sign = 'ended';
      h.witnesses = [{ ...gone(), report: undefined } as Witness];
    });
    const { outcome } = await drained(host);
    expect(outcome).toMatchObject({ end: 'ended-by-itself', outcome: 'unproven' });
    expect(host.now()).toBeLessThan(8_000);
  });

  test('what is left at the end of the grace period is named before the kubelet kills posidle', async () => {
    const { host, told } = world();
    host.witnesses = [alive({ files: [sight({ pos: 0, size: 7 })] })];
    const { outcome } = await drained(host);
    expect(outcome).toMatchObject({ end: 'survived', outcome: 'not-drained' });
    expect(outcome.left.worst).toMatchObject([{ kind: 'unread', bytes: 7 }]);
    expect([true, false].map((strict) => exitCodeOf(outcome, { strict }))).toEqual([3, 3]);
    expect(told).toContain('stop');
    expect(host.sent).toEqual([]);
    expect(host.now()).toBeLessThan(29_500);
  });
});

import { describe, expect, test } from 'vitest';
import { exitCodeOf } from '../../src/core/drain/outcome.ts';
import { confOf, LOG, run } from '../support/builders.ts';
import { FakeHost } from '../support/fake-host.ts';
import { holding, sight } from '../support/said.ts';
import { alive } from '../support/witnesses.ts';

const WITNESS = '/posidle';
/** Its buffer is in memory. */
const CONF = confOf([LOG], '<match app>\n@type forward\n</match>\n');

/** A Fluentd that the kubelet will stop; SIGTERM comes at 10 s. */
function worldInTermination(reads = true) {
  const host = new FakeHost();
  const fluentd = host.startFluentd();
  host.at(2_000, (h) => h.appendLog(LOG, 'line 1\n'));
  host.at(9_000, (h) => {
    fluentd.reads = reads;
    h.appendLog(LOG, 'line 2\n');
  });
  host.at(10_000, (h) => h.request('SIGTERM'));
  return host;
}

const left = (host: FakeHost, witness?: string) =>
  run(host, { quiet: 'off', role: 'native-sidecar' }, { role: 'native-sidecar', conf: CONF, witness });

describe('a Fluentd that the kubelet stops', () => {
  test('is flushed through its witness, and not told to stop', async () => {
    const host = worldInTermination();
    const told: string[] = [];
    host.witnesses = [alive({ outputs: [holding('a')] })];
    host.onWitnessTold = (_, word) => {
      told.push(word);
      host.witnesses = [alive()];
      return undefined;
    };
    const { outcome, report } = await left(host, WITNESS);
    expect(outcome).toMatchObject({ end: 'left-to-kubelet', trigger: 'SIGTERM', outcome: 'drained' });
    expect([told, host.sent]).toEqual([['flush'], []]);
    expect(report.path).toEqual(['waiting', 'watching', 'draining', 'stopped']);
    expect(host.processes.has(4242)).toBe(true);
    expect(exitCodeOf(outcome, { strict: true })).toBe(0);
  });

  test('keeps what it emits only when it stops: nobody sees that', async () => {
    const host = worldInTermination();
    host.witnesses = [alive({ files: [sight({ record: 30 })] })];
    const { outcome } = await left(host, WITNESS);
    expect(outcome).toMatchObject({ outcome: 'unproven', doubts: { worst: [{ kind: 'kept' }] } });
    expect(host.now()).toBeLessThan(11_000);
  });

  test('is flushed by a signal where it has no witness and its process is seen', async () => {
    const host = worldInTermination();
    const { outcome } = await left(host);
    expect(outcome).toMatchObject({ end: 'left-to-kubelet', outcome: 'unproven', left: { count: 0 } });
    expect(host.sent).toEqual([expect.stringMatching(/^SIGUSR1 4242/)]);
  });

  test.each<[string, (host: FakeHost) => void]>([
    ['its process is in another namespace', (host) => (host.listProcesses = async () => [])],
    ['posidle may not signal it', (host) => host.forbid(4242)],
  ])('is asked for nothing where it has no witness and %s, and has an unproven outcome', async (_, hide) => {
    const host = worldInTermination();
    hide(host);
    const { outcome } = await left(host);
    expect(outcome).toMatchObject({ end: 'left-to-kubelet', outcome: 'unproven', left: { count: 0 } });
    expect(host.sent).toEqual([]);
    expect(exitCodeOf(outcome, { strict: true })).toBe(3);
  });

  test('is left with its lines at the end of the grace period, which is said', async () => {
    const { outcome } = await left(worldInTermination(false));
    expect(outcome).toMatchObject({ end: 'left-to-kubelet', outcome: 'not-drained' });
    expect(outcome.left.worst).toMatchObject([{ kind: 'unread', path: LOG, bytes: 7 }]);
    expect([true, false].map((strict) => exitCodeOf(outcome, { strict }))).toEqual([3, 0]);
  });
});

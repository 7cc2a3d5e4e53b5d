import { describe, expect, test } from 'vitest';
import { exitCodeOf } from '../../src/core/drain/outcome.ts';
import type { ConfFacts } from '../../src/core/fluent-conf/facts.ts';
import { confOf, LOG, run } from '../support/builders.ts';
import { FakeHost } from '../support/fake-host.ts';

const RPC = { host: '127.0.0.1', port: 24444 };
const HIDDEN = { complete: false, hidden: [] } as const;
const withRpc = { ...confOf([LOG]), ...HIDDEN, rpc: RPC };
const withoutRpc = { ...confOf([LOG]), ...HIDDEN };

/** A Fluentd that the kubelet will stop; SIGTERM comes at 10 s. */
function worldInTermination(reads = true) {
  const host = new FakeHost();
  const fluentd = host.startFluentd();
  const calls: string[] = [];
  host.servers.set(`${RPC.host}:${RPC.port}`, (path) => {
    calls.push(path);
    return '{"ok":true}';
  });
  host.at(2_000, (h) => h.appendLog(LOG, 'line 1\n'));
  host.at(9_000, (h) => {
    fluentd.reads = reads;
    h.appendLog(LOG, 'line 2\n');
  });
  host.at(10_000, (h) => h.request('SIGTERM'));
  return { host, calls };
}

const left = (host: FakeHost, conf: ConfFacts = withRpc) =>
  run(host, { quiet: 'off', leavesStop: true }, { stopVia: 'kubelet', conf });

describe('what the kubelet stops', () => {
  test('is flushed by RPC, and neither called nor signalled to stop', async () => {
    const { host, calls } = worldInTermination();
    const { outcome, report } = await left(host);
    expect(outcome).toMatchObject({
      end: 'left-to-kubelet',
      trigger: 'SIGTERM',
      gate: null,
      left: { bytes: 0 },
    });
    expect(new Set(calls)).toEqual(new Set(['/api/plugins.flushBuffers']));
    expect(host.sent).toEqual([]);
    expect(report.path).toEqual(['waiting', 'watching', 'draining', 'stopped']);
    expect(host.processes.has(4242)).toBe(true);
    expect(exitCodeOf(outcome, { strict: false })).toBe(0);
  });

  test('is flushed by a signal where its process is seen and no RPC is known', async () => {
    const { host, calls } = worldInTermination();
    const { outcome } = await left(host, withoutRpc);
    expect(outcome).toMatchObject({ end: 'left-to-kubelet', gate: null });
    expect(host.sent).toEqual([expect.stringMatching(/^SIGUSR1 4242/)]);
    expect(calls).toEqual([]);
  });

  test('has an unproven outcome where no flush can be asked for', async () => {
    const { host, calls } = worldInTermination();
    // Its process is in another namespace: only its files are seen.
    host.listProcesses = async () => [];
    const { outcome } = await left(host, withoutRpc);
    expect(outcome).toMatchObject({ end: 'left-to-kubelet', drained: 'unproven', gate: null });
    expect([...host.sent, ...calls]).toEqual([]);
    expect(exitCodeOf(outcome, { strict: true })).toBe(3);
  });

  test('is asked for nothing where posidle may not signal it', async () => {
    const { host } = worldInTermination();
    host.forbid(4242);
    const { outcome } = await left(host, withoutRpc);
    expect(outcome).toMatchObject({ end: 'left-to-kubelet', drained: 'unproven', gate: null });
    expect(host.sent).toEqual([]);
  });

  test('is left with its lines at the end of the grace period, which is said', async () => {
    const { host } = worldInTermination(false);
    const { outcome } = await left(host);
    expect(outcome).toMatchObject({
      end: 'left-to-kubelet',
      drained: 'not drained',
      gate: { name: 'unread' },
    });
    expect(exitCodeOf(outcome, { strict: true })).toBe(3);
    expect(exitCodeOf(outcome, { strict: false })).toBe(0);
  });
});

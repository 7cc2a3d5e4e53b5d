import { expect, test } from 'vitest';
import { exitCodeOf } from '../../src/core/drain/outcome.ts';
import { LOG, POS, run } from '../support/builders.ts';
import { FakeHost } from '../support/fake-host.ts';

const MOMENT = 100;
const DRAIN = { quiet: 'off', drainTimeout: 60_000 } as const;

/** From 4 s to 20 s nobody can tell what has been read; main ends at 5 s. */
function hostWith(fault: (host: FakeHost) => () => void, mended = 20_000): FakeHost {
  const host = new FakeHost();
  const fluentd = host.startFluentd();
  host.appendLog(LOG, 'first line\n');
  fluentd.read(LOG);
  host.at(4_000, () => host.at(mended, fault(host)));
  host.at(5_000, (h) => h.request('http'));
  return host;
}

const unreadable = (host: FakeHost) => {
  host.broken.set(POS, 'EACCES: permission denied, open');
  return () => void host.broken.delete(POS);
};
const directory = (host: FakeHost) => {
  host.broken.set(POS, 'it is a directory');
  return () => void host.broken.delete(POS);
};
const deleted = (host: FakeHost) => {
  const { bytes = '' } = host.files.get(POS) ?? {};
  host.files.delete(POS);
  return () => host.writeFile(POS, bytes);
};

test.each([
  ['cannot be read', unreadable],
  ['is a directory', directory],
  ['is deleted', deleted],
])('a pos file that %s for a while holds the stop up until it is back', async (_, fault) => {
  const host = hostWith(fault);
  const { outcome } = await run(host, DRAIN);
  const [stop = ''] = host.stops;
  expect(Number(stop.split('@')[1])).toBeGreaterThanOrEqual(20_000);
  expect(Number(stop.split('@')[1])).toBeLessThan(30_000);
  expect(outcome).toMatchObject({ end: 'stopped', gate: null });
});

test.each([
  ['cannot be read', unreadable],
  ['is a directory', directory],
  ['is deleted', deleted],
])('a pos file that %s for good holds it up until the drain timeout, and is named', async (_, fault) => {
  const host = hostWith(fault, 10_000_000);
  const { outcome } = await run(host, DRAIN);
  expect(Number((host.stops[0] ?? '').split('@')[1])).toBeGreaterThanOrEqual(65_000 - MOMENT);
  expect(outcome).toMatchObject({ drained: 'not drained', gate: { name: 'pos-file' } });
  expect(outcome.gate?.why).toContain(POS);
  expect([true, false].map((strict) => exitCodeOf(outcome, { strict }))).toEqual([3, 0]);
});

import { expect, test, vi } from 'vitest';
import type { Policy } from '../../src/core/drain/policy.ts';
import { expectStops, run } from '../support/builders.ts';
import type { FakeHost } from '../support/fake-host.ts';
import { busyHost } from './busy-host.ts';

const MAIN = 500;

/** Main runs from the first second on, until then. */
function worldWithMain(until: number): FakeHost {
  const { host } = busyHost();
  host.at(1_000, (h) => h.startProcess({ pid: MAIN, argv: ['java', '-jar', 'main.jar'] }));
  return host.at(until, (h) => h.endProcess(MAIN));
}

function runUntilMainIsGone(host: FakeHost, rules: Partial<Policy> = {}) {
  return run(host, { quiet: 'off', doneProcess: true, ...rules }, { doneProcess: 'main.jar' });
}

test("main's process is gone since the look that missed it first, and no look more is waited for", async () => {
  const host = worldWithMain(10_050);
  // Nothing else wakes posidle on a whole look.
  const { report } = await runUntilMainIsGone(host, { doneProcessGone: 2_100 });
  const missed = report.looks.find(({ seen }) => seen.main.goneSince !== undefined);
  const over = (missed?.seen.at ?? 0) + 2_100;
  expectStops(host, [`SIGINT 4242 @${over}`]);
  expect(report.transitions.find(({ state }) => state.name === 'draining')?.seen.at).toBe(over);
});

test("main's process is not taken for gone while nobody can list the processes", async () => {
  const host = worldWithMain(303_000);
  const listing = vi.spyOn(host, 'listProcesses');
  host.at(100_000, () => listing.mockRejectedValue(new Error('the system has too many files open')));
  host.at(200_000, () => listing.mockRestore());
  await runUntilMainIsGone(host);
  expectStops(host, ['SIGINT 4242 @305000']);
});

import { expect, test } from 'vitest';
import { confOf, LOG, run } from '../support/builders.ts';
import type { FakeHost } from '../support/fake-host.ts';
import { busyHost } from './busy-host.ts';

const COUNTED = ['listProcesses', 'readFile', 'listFollowed', 'lookAt'] as const;

// Counts the system calls of 80 looks at a file that was read long ago. Times would be unreliable.
test('a look at rest reads, lists and searches nothing that has not changed', async () => {
  const { host } = busyHost();
  const calls = counted(host);
  let before: Record<string, number> = {};
  host.at(20_500, () => {
    before = { ...calls };
  });
  let after: Record<string, number> = {};
  host.at(100_500, (h) => {
    after = { ...calls };
    h.request('done-file');
  });
  await run(host, { quiet: 'off' }, { conf: confOf([LOG]) });
  const during = Object.fromEntries(COUNTED.map((name) => [name, (after[name] ?? 0) - (before[name] ?? 0)]));
  expect(during).toMatchObject({ listProcesses: 80, readFile: 80 });
  expect(during.listFollowed).toBeLessThanOrEqual(8);
  expect(during.lookAt).toBeLessThanOrEqual(80);
});

function counted(host: FakeHost): Record<string, number> {
  const calls: Record<string, number> = {};
  const methods = host as unknown as Record<string, (...args: unknown[]) => unknown>;
  for (const name of COUNTED) {
    const call = methods[name];
    calls[name] = 0;
    methods[name] = (...args) => {
      calls[name] = (calls[name] ?? 0) + 1;
      return call?.apply(host, args);
    };
  }
  return calls;
}

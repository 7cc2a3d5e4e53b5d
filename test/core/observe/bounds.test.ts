import { expect, test } from 'vitest';
import { outcomeOf } from '../../../src/core/drain/outcome.ts';
import type { Snapshot } from '../../../src/core/look/snapshot.ts';
import { observe } from '../../../src/core/observe/observe.ts';
import { entry, POS, policy, snapshot } from '../../support/builders.ts';

/** A main that makes and removes files without end, in a shared volume. */
const WAVE = 4_000;

function waveOf(wave: number): Snapshot['followed'] {
  const files = Array.from({ length: WAVE }, (_, index) => ({
    path: `/var/log/${wave}-${index}.log`,
    inode: String(wave * WAVE + index + 1),
    size: 10,
  }));
  return [{ posFile: POS, refreshInterval: 60_000, byInode: false, files }];
}

test('files that go away unread are all told, and fill no memory', () => {
  let seen = observe(undefined, snapshot(0, []), policy());
  for (let wave = 1; wave <= 4; wave += 1)
    seen = observe(seen, snapshot(wave * 1_000, [], { followed: waveOf(wave) }), policy());
  expect(seen.memory.abandoned.size).toBeLessThan(11_000);
  const stopped = { name: 'stopped', since: 0, end: { kind: 'stopped' }, result: undefined } as const;
  const end = observe(seen, snapshot(5_000, []), policy());
  const told = outcomeOf(stopped, '', { seen: end, durations: {} });
  expect(told.gate?.why).toMatch(/^16000 files went away unread, 156.* KiB, first \/var\/log\/1-0\.log$/);
  expect(told.left.bytes).toBe(4 * WAVE * 10);
});

test('entries that come and vanish fill no memory', () => {
  const entriesOf = (wave: number) =>
    Array.from(
      { length: WAVE },
      (_, index) =>
        [
          entry({
            path: `/var/log/${wave}-${index}.log`,
            inode: String(wave * WAVE + index + 1),
            position: 10,
          }),
        ] as const,
    );
  let seen = observe(undefined, snapshot(0, []), policy());
  for (let wave = 1; wave <= 5; wave += 1)
    seen = observe(seen, snapshot(wave * 1_000, entriesOf(wave)), policy());
  expect(seen.memory.entries.size).toBeLessThanOrEqual(WAVE + 10_000);
  expect([...seen.memory.entries.values()].at(-1)?.path).toBe(`/var/log/5-${WAVE - 1}.log`);
});

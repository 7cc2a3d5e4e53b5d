import { expect, test } from 'vitest';
import { armedBy } from '../../src/tasks/arm-triggers.ts';
import { settingsOf, type WatchOptions } from '../../src/tasks/watch-options.ts';

const armed = (options: WatchOptions) => armedBy(settingsOf(options));

test('every trigger that is armed is named, in words', () => {
  expect(armed({})).toEqual(['nothing has moved for 60 s']);
  const files = { doneFile: '/done', heartbeatFile: '/alive' };
  const all = { quiet: 30_000, doneProcess: 'main', ...files };
  expect(armed(all)).toEqual([
    'nothing has moved for 30 s',
    '/done exists',
    "main's process (main) has been gone for 2.0 s",
    '/alive has not been refreshed for 15 s',
  ]);
});

test('without a trigger nothing begins the drain by itself', () => {
  expect(armed({ quiet: 'off' })).toEqual([]);
});

import { expect, test } from 'vitest';
import { armedBy } from '../../src/tasks/arm-triggers.ts';
import { settingsOf, type WatchOptions } from '../../src/tasks/watch-options.ts';

const armed = (options: WatchOptions) => armedBy(settingsOf(options, false));

test('every trigger that is armed is named, in words', () => {
  expect(armed({}).when).toEqual(['nothing has moved for 60 s']);
  const files = { doneFile: '/done', heartbeatFile: '/alive' };
  const all = { quiet: 30_000, doneProcess: /main/, signal: AbortSignal.abort(), ...files };
  expect(armed(all).when).toEqual([
    'nothing has moved for 30 s',
    '/done exists',
    "main's process (/main/) has been gone for 2.0 s",
    '/alive has not been refreshed for 15 s',
    'the caller aborts',
  ]);
});

test.each<[WatchOptions, boolean]>([
  [{}, true],
  [{ doneFile: '/done' }, true],
  [{ quiet: 'off' }, false],
  [{ signal: AbortSignal.abort() }, false],
])('%o needs no call: %s', (options, byItself) => {
  expect(armed(options).byItself).toBe(byItself);
});

import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { Ending } from '../../../src/node/output/terminal.ts';
import { until } from '../../support/until.ts';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
let before: ReadonlyMap<string, readonly unknown[]>;

beforeEach(() => {
  before = new Map(SIGNALS.map((signal) => [signal, process.listeners(signal)]));
});
afterEach(() => {
  for (const signal of SIGNALS)
    for (const listener of process.listeners(signal))
      if (!before.get(signal)?.includes(listener)) process.off(signal, listener);
});

test('what was waited for is not kept until the end', async () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc');
  const ending = new Ending();
  const looks: WeakRef<object>[] = [];
  for (let look = 0; look < 10; look += 1) {
    const found = { look };
    looks.push(new WeakRef(found));
    await ending.orEnd(Promise.resolve(found));
  }
  // The last one may still be at hand.
  const isKept = (ref: WeakRef<object>) => ref.deref() !== undefined;
  await until('the looks are gone', () => {
    collect();
    return looks.filter(isKept).length <= 1;
  });
});

test('the end cuts a wait short, and every later one', async () => {
  const ending = new Ending();
  const waiting = ending.orEnd(new Promise(() => {}));
  ending.want();
  expect(await waiting).toBeUndefined();
  expect(await ending.orEnd(Promise.resolve('late'))).toBeUndefined();
});

test('what goes wrong in a wait is not swallowed', async () => {
  await expect(new Ending().orEnd(Promise.reject(new Error('broken')))).rejects.toThrow('broken');
});

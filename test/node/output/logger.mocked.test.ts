import type { Stats } from 'node:fs';
import { expect, test, vi } from 'vitest';
import { openLog } from '../../../src/node/output/logger.ts';

const { Pipe, written } = await vi.hoisted(async () => {
  const { Writable } = await import('node:stream');
  const written: string[] = [];
  /** A pipe that takes each write at the next turn. */
  class Pipe extends Writable {
    override _write(chunk: Buffer, _: string, done: () => void): void {
      setImmediate(() => {
        written.push(String(chunk));
        done();
      });
    }
    unref(): this {
      return this;
    }
  }
  return { Pipe, written };
});

vi.mock('node:fs', async (original) => ({
  ...(await original<object>()),
  fstatSync: () => ({ isFIFO: () => true }) as Stats,
}));
vi.mock('node:net', () => ({ Socket: Pipe }));
// No time passes: only the pipe can end the wait.
vi.mock('node:timers/promises', () => ({ setTimeout: () => new Promise(() => {}) }));

test('the log is closed as soon as the pipe has taken its last line', async () => {
  const log = openLog('json');
  for (const text of ['one', 'two']) log.info({}, text);
  await log.close();
  expect(written.filter(Boolean).map((line) => JSON.parse(line).msg)).toEqual(['one', 'two']);
});

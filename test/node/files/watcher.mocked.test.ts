import { EventEmitter } from 'node:events';
import { beforeEach, expect, test, vi } from 'vitest';
import { Watcher } from '../../../src/node/files/watcher.ts';

/** The object that chokidar returns. */
class Watching extends EventEmitter {
  close(): Promise<void> {
    return Promise.resolve();
  }
}

const { watching } = vi.hoisted(() => ({ watching: { all: [] as EventEmitter[] } }));
vi.mock('chokidar', () => ({
  watch: () => {
    const one = new Watching();
    watching.all.push(one);
    return one;
  },
}));

const [told, changed] = [vi.fn(), vi.fn()];
const watcher = () => new Watcher(['/var/log/app.log'], told);
beforeEach(() => {
  watching.all = [];
  vi.clearAllMocks();
});

test.each([
  ['ENOSPC', /^no inotify watch is left/],
  ['EMFILE', /^no inotify instance is left/],
  ['EIO', /^EIO: no$/],
])('a system that cannot watch is reported once, and is not asked again: %s', (code, why) => {
  const refused = watcher();
  refused.arm(changed);
  watching.all[0]?.emit('error', Object.assign(new Error(`${code}: no`), { code }));
  refused.arm(changed);
  expect(told.mock.calls).toEqual([[expect.stringMatching(why)]]);
  expect([changed.mock.calls.length, watching.all.length]).toEqual([1, 1]);
});

test('a change is reported once, and the watch is taken down', () => {
  const one = watcher();
  one.arm(changed);
  watching.all[0]?.emit('raw');
  expect(told).not.toHaveBeenCalled();
  expect(changed).toHaveBeenCalledOnce();
});

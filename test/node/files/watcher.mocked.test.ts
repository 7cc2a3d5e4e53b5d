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

let told: string[] = [];
let changes = 0;
const watcher = () => new Watcher(['/var/log/app.log'], (why) => told.push(why));
const arm = (one: Watcher) =>
  one.arm(() => {
    changes += 1;
  });
beforeEach(() => {
  watching.all = [];
  told = [];
  changes = 0;
});

test.each([
  ['ENOSPC', /^no inotify watch is left/],
  ['EMFILE', /^no inotify instance is left/],
  ['EIO', /^EIO: no$/],
])('a system that cannot watch is reported once, and is not asked again: %s', (code, why) => {
  const refused = watcher();
  arm(refused);
  watching.all[0]?.emit('error', Object.assign(new Error(`${code}: no`), { code }));
  arm(refused);
  expect([told, changes, watching.all.length]).toEqual([[expect.stringMatching(why)], 1, 1]);
});

test('a change is reported once, and the watch is taken down', () => {
  const one = watcher();
  arm(one);
  watching.all[0]?.emit('raw');
  expect([told, changes]).toEqual([[], 1]);
});

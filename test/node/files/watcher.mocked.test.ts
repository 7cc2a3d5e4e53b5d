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

test.each(['ENOSPC: System limit for number of file watchers reached', 'EMFILE: too many open files, watch'])(
  'a system that cannot watch is reported once, and is not asked again: %s',
  (why) => {
    const refused = watcher();
    arm(refused);
    watching.all[0]?.emit('error', new Error(why));
    arm(refused);
    expect([told, changes, watching.all.length]).toEqual([[why], 1, 1]);
  },
);

test('a change is reported once, and the watch is taken down', () => {
  const one = watcher();
  arm(one);
  watching.all[0]?.emit('raw');
  expect([told, changes]).toEqual([[], 1]);
});

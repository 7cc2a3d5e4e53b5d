import { describe, expect, test } from 'vitest';
import type { ProcessIdentity, ProcessRow } from '../../src/core/fluentd/processes.ts';
import type { StopRequest } from '../../src/core/look/snapshot.ts';
import type { Host } from '../../src/host.ts';

/** A world of its own for each test, with a way to change it from outside. */
export interface World {
  readonly host: Host;
  path(name: string): string;
  write(name: string, text: string): void;
  append(name: string, text: string): void;
  rename(from: string, to: string): void;
  remove(name: string): void;
  makeDirectory(name: string): void;
  /** A process that ends by SIGTERM. */
  startProcess(): Promise<ProcessIdentity>;
  isRunning(pid: number): Promise<boolean>;
  /** A process that has ended, and that nobody has reaped. */
  startZombie(): Promise<ProcessIdentity>;
  /** A process that has ended and is gone. */
  startGone(): Promise<ProcessIdentity>;
  /** Calls for the end after so many milliseconds. */
  requestIn(wait: number, by: StopRequest['by']): void;
}

const RATHER_LONG = 60_000;

/** What every Host does, the real one and the fake. */
export function describeHost(
  name: string,
  inWorld: (use: (world: World) => Promise<void>) => Promise<void>,
): void {
  const holds = (title: string, use: (world: World) => Promise<void>) => test(title, () => inWorld(use));

  describe(`${name}: files`, () => {
    holds('what is not there is undefined', async ({ host, path }) => {
      expect(await host.readFile(path('none'))).toBeUndefined();
      expect(await host.statFiles([path('none')])).toEqual([undefined]);
      expect(await host.hasNewlineAfter(path('none'), 0)).toBeUndefined();
      expect(await host.findByInode(path('none'), '1')).toBeUndefined();
    });

    holds('a file is its bytes, dated', async ({ host, path, write }) => {
      write('a.log', 'één\n');
      const content = await host.readFile(path('a.log'));
      expect([...(content?.bytes ?? [])]).toEqual([...Buffer.from('één\n')]);
      expect(content?.writtenAgo).toBeGreaterThanOrEqual(0);
      expect(content?.writtenAgo).toBeLessThan(RATHER_LONG);
    });

    holds('a directory has an inode and cannot be read', async ({ host, path, makeDirectory }) => {
      makeDirectory('dir');
      expect(await host.statFiles([path('dir')])).toMatchObject([
        { inode: expect.stringMatching(/^[1-9]\d*$/) },
      ]);
      await expect(host.readFile(path('dir'))).rejects.toThrow(/directory/);
    });

    holds('stats come in the order of the paths, with size and inode', async ({ host, path, write }) => {
      write('a.log', '12345');
      write('b.log', '');
      const [b, none, a] = await host.statFiles([path('b.log'), path('none'), path('a.log')]);
      expect(b).toMatchObject({ size: 0 });
      expect(none).toBeUndefined();
      expect(a).toMatchObject({ size: 5, inode: expect.stringMatching(/^[1-9]\d*$/) });
      expect((a as { inode: string }).inode).not.toBe((b as { inode: string }).inode);
    });

    holds('a file keeps its inode as it grows', async ({ host, path, write, append }) => {
      write('a.log', '1');
      const before = await statOf(host, path('a.log'));
      append('a.log', '23');
      expect(await statOf(host, path('a.log'))).toEqual({ inode: before.inode, size: 3 });
    });

    holds('a renamed file is found by its inode, beside its path', async ({ host, path, write, rename }) => {
      write('a.log', 'old\n');
      const { inode } = await statOf(host, path('a.log'));
      rename('a.log', 'a.log.1');
      write('a.log', 'new file\n');
      const stat = { inode, size: 4 };
      expect(await host.findByInode(path('a.log'), inode)).toEqual({ path: path('a.log.1'), stat });
    });

    holds('a path that is there is itself, whatever is in its name', async ({ host, path, write }) => {
      write('a*.pos', '');
      write('ab.pos', '');
      expect(await host.expand(path('a*.pos'))).toEqual([path('a*.pos')]);
    });

    holds(
      'a glob is what it matches, sorted; itself where it matches nothing',
      async ({ host, path, write }) => {
        for (const name of ['b.pos', 'a.pos', 'c.log']) write(name, '');
        expect(await host.expand(path('*.pos'))).toEqual([path('a.pos'), path('b.pos')]);
        expect(await host.expand(path('?.log'))).toEqual([path('c.log')]);
        expect(await host.expand(path('*.none'))).toEqual([path('*.none')]);
        expect(await host.expand(path('none.pos'))).toEqual([path('none.pos')]);
      },
    );
  });

  describe(`${name}: a newline after a position`, () => {
    holds('is seen at the position itself and after it, not before', async ({ host, path, write }) => {
      write('a.log', 'ab\ncd');
      const found = [0, 2, 3, 5, 99].map((position) => host.hasNewlineAfter(path('a.log'), position));
      expect(await Promise.all(found)).toEqual([true, true, false, false, false]);
    });

    holds('is seen when the line is ended later', async ({ host, path, write, append }) => {
      write('a.log', 'ab\ncd');
      expect(await host.hasNewlineAfter(path('a.log'), 3)).toBe(false);
      append('a.log', 'ef');
      expect(await host.hasNewlineAfter(path('a.log'), 3)).toBe(false);
      append('a.log', 'gh\n');
      expect(await host.hasNewlineAfter(path('a.log'), 3)).toBe(true);
      expect(await host.hasNewlineAfter(path('a.log'), 3)).toBe(true);
    });

    holds('is seen after many bytes', async ({ host, path, write }) => {
      write('a.log', `${'x'.repeat(300_000)}\n`);
      expect(await host.hasNewlineAfter(path('a.log'), 7)).toBe(true);
    });

    holds('is seen in a shorter file that took the place of one', async ({ host, path, write, rename }) => {
      write('a.log', 'a long unfinished line');
      expect(await host.hasNewlineAfter(path('a.log'), 0)).toBe(false);
      rename('a.log', 'a.log.1');
      write('a.log', 'short\nunfinished and long again');
      expect(await host.hasNewlineAfter(path('a.log'), 0)).toBe(true);
    });

    holds('is seen in a file that was written anew', async ({ host, path, write }) => {
      write('a.log', 'a long unfinished line');
      expect(await host.hasNewlineAfter(path('a.log'), 0)).toBe(false);
      write('a.log', 'short\n');
      expect(await host.hasNewlineAfter(path('a.log'), 0)).toBe(true);
    });
  });

  describe(`${name}: processes`, () => {
    holds('the table holds posidle itself, with its words', async ({ host }) => {
      const self = (await host.listProcesses()).find(({ pid }) => pid === host.self);
      expect(self?.argv.length).toBeGreaterThan(0);
      expect(self).toMatchObject({ zombie: false, startTime: expect.stringMatching(/./) });
      expect(await rowOf(host, host.self)).toEqual(self);
    });

    holds('a process has the same identity at every look', async ({ host, startProcess }) => {
      const { pid, startTime } = await startProcess();
      expect(await rowOf(host, pid)).toMatchObject({ pid, startTime, zombie: false });
      expect((await host.listProcesses()).find((row) => row.pid === pid)).toMatchObject({ startTime });
      expect(host.maySignal(pid)).toBe(true);
    });

    holds('a process that is gone is undefined', async ({ host, startGone }) => {
      const { pid } = await startGone();
      expect(await rowOf(host, pid)).toBeUndefined();
    });

    holds('a signal ends the process that it is meant for', async ({ host, startProcess, isRunning }) => {
      const target = await startProcess();
      expect(await host.signal(target, 'SIGTERM')).toBe('sent');
      await expect.poll(() => isRunning(target.pid)).toBe(false);
    });

    holds(
      'another start time is another process: it gets nothing',
      async ({ host, startProcess, isRunning }) => {
        const { pid } = await startProcess();
        expect(await host.signal({ pid, startTime: 'another' }, 'SIGTERM')).toBe('gone');
        expect(await isRunning(pid)).toBe(true);
      },
    );

    holds('a process that has ended is gone', async ({ host, startGone }) => {
      expect(await host.signal(await startGone(), 'SIGTERM')).toBe('gone');
    });

    holds('a zombie shows as such, and is gone for signals', async ({ host, startZombie }) => {
      const zombie = await startZombie();
      expect(await rowOf(host, zombie.pid)).toMatchObject({ zombie: true });
      expect(await host.signal(zombie, 'SIGTERM')).toBe('gone');
    });
  });

  describe(`${name}: time`, () => {
    holds('a sleep ends at its time', async ({ host }) => {
      const until = host.now() + 60;
      await host.sleep(until);
      expect(host.now()).toBeGreaterThanOrEqual(until - 2);
      expect(host.now()).toBeLessThan(until + RATHER_LONG);
    });

    holds('a sleep until an instant that has passed ends at once', async ({ host }) => {
      const before = host.now();
      await host.sleep(before - RATHER_LONG);
      expect(host.now() - before).toBeLessThan(RATHER_LONG);
    });

    holds('a call for the end ends a sleep, is dated and kept', async ({ host, requestIn }) => {
      const before = host.now();
      requestIn(50, 'SIGTERM');
      await host.sleep(before + RATHER_LONG);
      expect(host.now() - before).toBeLessThan(RATHER_LONG / 2);
      expect(host.requests()).toEqual([{ by: 'SIGTERM', at: expect.closeTo(before + 50, -4) }]);
    });

    holds('a call for the end that came before a sleep ends it at once', async ({ host, requestIn }) => {
      requestIn(0, 'SIGINT');
      while (host.requests().length === 0) await host.sleep(host.now() + 10);
      expect(host.requests()).toMatchObject([{ by: 'SIGINT' }]);
    });
  });
}

async function statOf(host: Host, path: string): Promise<{ inode: string; size: number }> {
  const [stat] = await host.statFiles([path]);
  if (stat === undefined || stat instanceof Error) throw new Error(`no ${path}`);
  return stat;
}

export async function rowOf(host: Pick<Host, 'listProcesses'>, pid: number): Promise<ProcessRow | undefined> {
  return (await host.listProcesses()).find((row) => row.pid === pid);
}

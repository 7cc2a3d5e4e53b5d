import { describe, expect, test } from 'vitest';
import type { FileLook } from '../../src/core/look/snapshot.ts';
import type { PositionEntry } from '../../src/core/pos-file/pos-file.ts';
import type { DrainRequest } from '../../src/core/progress/drain-request.ts';
import type { ProcessIdentity, ProcessRow } from '../../src/core/progress/fluentd-reading.ts';
import type { Host } from '../../src/host.ts';

/** A world of its own for each test, with a way to change it from outside. */
export interface World {
  readonly host: Host & { request(by: DrainRequest['by']): void };
  /** posidle's own pid. */
  readonly self: number;
  path(name: string): string;
  write(name: string, text: string): void;
  append(name: string, text: string): void;
  rename(from: string, to: string): void;
  /** A process that ends by SIGTERM. */
  startProcess(): Promise<ProcessIdentity>;
  isRunning(pid: number): Promise<boolean>;
  /** A process that has ended, and that nobody has reaped. */
  startZombie(): Promise<ProcessIdentity>;
  /** Calls for the end after so many milliseconds. */
  requestIn(wait: number, by: DrainRequest['by']): void;
}

const RATHER_LONG = 60_000;

/** The contract of every Host, the real one and the fake. */
export function describeHost(
  name: string,
  inWorld: (use: (world: World) => Promise<void>) => Promise<void>,
): void {
  const holds = (title: string, use: (world: World) => Promise<void>) => test(title, () => inWorld(use));

  describe(`${name}: files`, () => {
    holds('a file is its bytes, dated, and one that is not there is undefined', async (world) => {
      const { host, path, write } = world;
      expect(await host.readFile(path('a.log'))).toBeUndefined();
      write('a.log', 'één\n');
      const content = await host.readFile(path('a.log'));
      expect([...(content?.bytes ?? [])]).toEqual([...Buffer.from('één\n')]);
      expect(content?.writtenAgo).toBeGreaterThanOrEqual(0);
      expect(content?.writtenAgo).toBeLessThan(RATHER_LONG);
    });

    holds('a file is not read again while its stamp is the known one', async (world) => {
      const { host, path, write, append, rename } = world;
      write('a.log', 'one\n');
      const first = await host.readFile(path('a.log'));
      const again = () => host.readFile(path('a.log'), { known: first?.stamp });
      expect(await again()).toMatchObject({ stamp: first?.stamp, bytes: undefined });
      append('a.log', 'two\n');
      expect(await again()).toMatchObject({ file: first?.file, bytes: { length: 8 } });
      write('b.log', 'two\n');
      rename('b.log', 'a.log');
      const other = await again();
      expect(other?.bytes).toHaveLength(4);
      expect(other?.file).not.toBe(first?.file);
    });
  });

  describe(`${name}: a look at log files`, () => {
    holds('comes in the order of the entries, with size, inode and age', async ({ host, path, write }) => {
      write('a.log', '12345');
      write('b.log', '');
      const entries = ['b.log', 'none', 'a.log'].map((name) => ({
        key: name,
        path: path(name),
        position: 0,
        inode: '0',
      }));
      const looks: [PositionEntry, FileLook][] = [];
      await host.lookAt(entries, (entry, look) => looks.push([entry, look]));
      expect(looks.map(([entry]) => entry)).toEqual(entries);
      const [b, none, a] = looks.map(([, { atPath }]) => atPath);
      expect(b).toMatchObject({ size: 0 });
      expect(none).toBeUndefined();
      expect(a).toMatchObject({ size: 5, inode: expect.stringMatching(/^[1-9]\d*$/) });
      expect(a?.inode).not.toBe(b?.inode);
      expect(a?.writtenAgo).toBeGreaterThanOrEqual(0);
      expect(a?.writtenAgo).toBeLessThan(RATHER_LONG);
    });

    holds('does not look for a renamed file', async ({ host, path, write, rename }) => {
      write('a.log', 'old\n');
      const inode = await inodeOf(host, path('a.log'));
      rename('a.log', 'a.log.1');
      expect(await lookAt(host, path('a.log'), 2, inode)).toEqual({});
      write('a.log', 'new file\n');
      const look = await lookAt(host, path('a.log'), 4, inode);
      expect(look).toEqual({ atPath: expect.objectContaining({ size: 9 }) });
    });

    holds('looks for nothing more where an entry is unwatched', async ({ host, path, write }) => {
      write('a.log', 'old\n');
      const inode = await inodeOf(host, path('a.log'));
      expect(Object.keys(await lookAt(host, path('a.log'), null, inode))).toEqual(['atPath']);
    });
  });

  holds(`${name}: a newline is seen at the position itself and after it, not before`, async (world) => {
    const { host, path, write, append } = world;
    const hasNewline = async (position: number) => (await lookAt(host, path('a.log'), position)).newlineLeft;
    write('a.log', 'ab\ncd');
    const found = await Promise.all([0, 2, 3, 5, 99].map(hasNewline));
    expect(found).toEqual([true, true, false, undefined, undefined]);
    write('a.log', 'x'.repeat(300_000));
    expect(await hasNewline(0)).toBe(false);
    append('a.log', '\n');
    expect(await hasNewline(0)).toBe(true);
  });

  describe(`${name}: processes`, () => {
    holds('the table holds posidle itself, with its words', async ({ host, self: own }) => {
      const self = await rowOf(host, own);
      expect(self?.argv.length).toBeGreaterThan(0);
      expect(self).toMatchObject({ zombie: false, startTime: expect.stringMatching(/./) });
    });

    holds('a family is a process and its children, as the table has them', async ({ host, startProcess }) => {
      const { pid } = await startProcess();
      const row = await rowOf(host, pid);
      expect(await host.listProcesses(row?.ppid ?? -1)).toContainEqual(row);
      expect((await host.listProcesses(pid)).map((row) => row.pid)).toEqual([pid]);
    });

    holds('a signal ends the process that it is meant for', async ({ host, startProcess, isRunning }) => {
      const target = await startProcess();
      expect(await rowOf(host, target.pid)).toMatchObject({ ...target, zombie: false });
      expect(await host.signal(target, 0)).toBe('sent');
      expect(await isRunning(target.pid)).toBe(true);
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

    holds('a zombie shows as such, and is gone for signals', async ({ host, startZombie }) => {
      const zombie = await startZombie();
      expect(await rowOf(host, zombie.pid)).toMatchObject({ zombie: true });
      expect(await host.signal(zombie, 'SIGTERM')).toBe('gone');
    });
  });

  describe(`${name}: time`, () => {
    holds('a sleep ends at its time', async ({ host }) => {
      const until = host.now() + 60;
      await host.sleep(until, false);
      expect(host.now()).toBeGreaterThanOrEqual(until - 2);
      expect(host.now()).toBeLessThan(until + RATHER_LONG);
    });

    holds('a call for the end ends a sleep, is dated and kept', async ({ host, requestIn }) => {
      const before = host.now();
      requestIn(50, 'SIGTERM');
      await host.sleep(before + RATHER_LONG, false);
      expect(host.now() - before).toBeLessThan(RATHER_LONG / 2);
      expect(host.requests()).toEqual([{ by: 'SIGTERM', at: expect.closeTo(before + 50, -4) }]);
    });

    holds('a call for the end that came before a sleep ends it at once', async ({ host }) => {
      const before = host.now();
      host.request('SIGINT');
      await host.sleep(before + RATHER_LONG, false);
      expect(host.now() - before).toBeLessThan(RATHER_LONG / 2);
    });
  });
}

/** A look at one entry; by default that of the file at the path. */
async function lookAt(host: Host, path: string, position: number | null, inode?: string): Promise<FileLook> {
  const looks: FileLook[] = [];
  const entry = { key: path, path, position, inode: inode ?? '0' };
  await host.lookAt([entry], (_, look) => looks.push(look));
  expect(looks).toHaveLength(1);
  return looks[0] ?? {};
}

async function inodeOf(host: Host, path: string): Promise<string> {
  return (await lookAt(host, path, null)).atPath?.inode ?? `no ${path}`;
}

export async function rowOf(host: Pick<Host, 'listProcesses'>, pid: number): Promise<ProcessRow | undefined> {
  return (await host.listProcesses()).find((row) => row.pid === pid);
}

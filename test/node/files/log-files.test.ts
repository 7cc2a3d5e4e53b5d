import { execFileSync } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { observe } from '../../../src/core/observe/observe.ts';
import { Collector } from '../../../src/daemon/collect.ts';
import { LogFiles } from '../../../src/node/files/log-files.ts';
import { NodeHost } from '../../../src/node/node-host.ts';
import { ABSENT, policy, posText, subject } from '../../support/builders.ts';
import { cpuSeconds } from '../../support/cpu-seconds.ts';

async function find(path: string, inode: string): Promise<string | undefined> {
  const found: (string | undefined)[] = [];
  await new LogFiles().lookAt([{ path, position: 0, inode }], (_, { renamed }) => found.push(renamed?.path));
  return found[0];
}

let dir: string;

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'posidle-renamed-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

/** Makes a log file, and gives its inode. */
function written(name: string): string {
  const path = join(dir, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, 'one\n');
  return inodeOf(name);
}

function inodeOf(name: string): string {
  return String(statSync(join(dir, name)).ino);
}

describe('a renamed log', () => {
  test('is found beside the path', async () => {
    const inode = written('app.log');
    renameSync(join(dir, 'app.log'), join(dir, 'app.log.1'));
    written('app.log');
    expect(await find(join(dir, 'app.log'), inode)).toBe(join(dir, 'app.log.1'));
  });

  test('is found beside the target of a symlink, where the kubelet renames it', async () => {
    const inode = written('pods/uid/main/0.log');
    mkdirSync(join(dir, 'containers'));
    symlinkSync('../pods/uid/main/0.log', join(dir, 'containers/app.log'));
    const rotated = 'pods/uid/main/0.log.20261121-120000';
    renameSync(join(dir, 'pods/uid/main/0.log'), join(dir, rotated));
    const found = () =>
      find(join(dir, 'containers/app.log'), inode).then((path) => path && statSync(path).ino);
    // The runtime makes the new file only when it is told to.
    expect(String(await found())).toBe(inode);
    written('pods/uid/main/0.log');
    expect(String(await found())).toBe(inode);
  });

  test('is found behind several symlinks, and at the first of them', async () => {
    const far = written('docker/id.log.1');
    const near = written('containers/app.log.1');
    written('docker/id.log');
    mkdirSync(join(dir, 'pods'));
    symlinkSync(join(dir, 'docker/id.log'), join(dir, 'pods/0.log'));
    symlinkSync(join(dir, 'pods/0.log'), join(dir, 'containers/app.log'));
    expect(await find(join(dir, 'containers/app.log'), far)).toBe(join(dir, 'docker/id.log.1'));
    expect(await find(join(dir, 'containers/app.log'), near)).toBe(join(dir, 'containers/app.log.1'));
  });

  test('is nothing where symlinks form a loop', async () => {
    symlinkSync('b.log', join(dir, 'a.log'));
    symlinkSync('a.log', join(dir, 'b.log'));
    expect(await find(join(dir, 'a.log'), '1')).toBeUndefined();
  });

  test('is no directory, no FIFO and no link to either', async () => {
    mkdirSync(join(dir, 'sub'));
    execFileSync('mkfifo', [join(dir, 'fifo')]);
    symlinkSync('sub', join(dir, 'link'));
    for (const name of ['sub', 'fifo', 'link'])
      expect(await find(join(dir, 'app.log'), inodeOf(name))).toBeUndefined();
  });
});

describe('a log file of 1 TiB without a newline', () => {
  test('holds up no look: bytes are left, and whether a line ends in them is not known yet', async () => {
    const inode = written('huge.log');
    const path = join(dir, 'huge.log');
    truncateSync(path, 1024 ** 4);
    const pos = join(dir, 'app.pos');
    writeFileSync(pos, posText([{ path, position: 4, inode }]));
    const look = () => new Collector(new NodeHost(), subject({ posFiles: [pos] })).look('rest', ABSENT);
    expect(await cpuSeconds(look)).toBeLessThan(5);
    const snapshot = await look();
    const [file] = observe(undefined, snapshot, policy()).files;
    expect(file).toMatchObject({ state: 'behind', lag: 1024 ** 4 - 4, read: false });
  });

  test('is searched on from look to look', async () => {
    const inode = written('huge.log');
    const path = join(dir, 'huge.log');
    truncateSync(path, 200 * 1024 ** 2);
    const files = new LogFiles();
    const found: (boolean | undefined)[] = [];
    while (found.length < 10 && found.at(-1) === undefined)
      await files.lookAt([{ path, position: 4, inode }], (_, { newlineLeft }) => found.push(newlineLeft));
    expect(found).toEqual([undefined, undefined, undefined, false]);
  });
});

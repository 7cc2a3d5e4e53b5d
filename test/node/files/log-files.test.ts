import { execFileSync } from 'node:child_process';
import { mkdirSync, renameSync, statSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { describe, expect, test } from 'vitest';
import { observe } from '../../../src/core/observe/observe.ts';
import { Collector } from '../../../src/daemon/collect.ts';
import { LogFiles } from '../../../src/node/files/log-files.ts';
import { NodeHost } from '../../../src/node/node-host.ts';
import { ABSENT, policy, posText, subject } from '../../support/builders.ts';
import { cpuSeconds } from '../../support/cpu-seconds.ts';
import { tempDir } from '../../support/temp-dir.ts';

async function find(path: string, inode: string): Promise<string | undefined> {
  const found: (string | undefined)[] = [];
  await new LogFiles().lookAt([{ path, position: 0, inode }], (_, { renamed }) => found.push(renamed?.path));
  return found[0];
}

const inDir = tempDir();

/** Makes a log file, and gives its inode. */
function written(name: string): string {
  const path = inDir(name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, 'one\n');
  return inodeOf(name);
}

function inodeOf(name: string): string {
  return String(statSync(inDir(name)).ino);
}

describe('a renamed log', () => {
  test('is found beside the path', async () => {
    const inode = written('app.log');
    renameSync(inDir('app.log'), inDir('app.log.1'));
    written('app.log');
    expect(await find(inDir('app.log'), inode)).toBe(inDir('app.log.1'));
  });

  test('is found beside the target of a symlink, where the kubelet renames it', async () => {
    const inode = written('pods/uid/main/0.log');
    mkdirSync(inDir('containers'));
    symlinkSync('../pods/uid/main/0.log', inDir('containers/app.log'));
    const rotated = 'pods/uid/main/0.log.20261121-120000';
    renameSync(inDir('pods/uid/main/0.log'), inDir(rotated));
    const found = () => find(inDir('containers/app.log'), inode).then((path) => path && statSync(path).ino);
    // The runtime makes the new file only on the kubelet's request.
    expect(String(await found())).toBe(inode);
    written('pods/uid/main/0.log');
    expect(String(await found())).toBe(inode);
  });

  test('is found behind several symlinks, and at the first of them', async () => {
    const far = written('docker/id.log.1');
    const near = written('containers/app.log.1');
    written('docker/id.log');
    mkdirSync(inDir('pods'));
    symlinkSync(inDir('docker/id.log'), inDir('pods/0.log'));
    symlinkSync(inDir('pods/0.log'), inDir('containers/app.log'));
    expect(await find(inDir('containers/app.log'), far)).toBe(inDir('docker/id.log.1'));
    expect(await find(inDir('containers/app.log'), near)).toBe(inDir('containers/app.log.1'));
  });

  test('is nothing where symlinks form a loop', async () => {
    symlinkSync('b.log', inDir('a.log'));
    symlinkSync('a.log', inDir('b.log'));
    expect(await find(inDir('a.log'), '1')).toBeUndefined();
  });

  test('is no directory, no FIFO and no link to either', async () => {
    mkdirSync(inDir('sub'));
    execFileSync('mkfifo', [inDir('fifo')]);
    symlinkSync('sub', inDir('link'));
    for (const name of ['sub', 'fifo', 'link'])
      expect(await find(inDir('app.log'), inodeOf(name))).toBeUndefined();
  });
});

describe('a log file of 1 TiB without a newline', () => {
  test('holds up no look: bytes are left, and whether a line ends in them is not known yet', async () => {
    const inode = written('huge.log');
    const path = inDir('huge.log');
    truncateSync(path, 1024 ** 4);
    const pos = inDir('app.pos');
    writeFileSync(pos, posText([{ path, position: 4, inode }]));
    const look = () =>
      new Collector(new NodeHost(), subject({ posFiles: [pos] })).look('light', {
        fluentd: ABSENT,
        sign: 'unknown',
        question: 'look',
      });
    expect(await cpuSeconds(look)).toBeLessThan(5);
    const snapshot = await look();
    const [file] = observe(undefined, snapshot, policy()).files;
    expect(file).toMatchObject({ state: 'behind', lag: 1024 ** 4 - 4, read: false });
  });

  test('is searched on from look to look', async () => {
    const inode = written('huge.log');
    const path = inDir('huge.log');
    truncateSync(path, 200 * 1024 ** 2);
    const files = new LogFiles();
    const found: (boolean | undefined)[] = [];
    while (found.length < 10 && found.at(-1) === undefined)
      await files.lookAt([{ path, position: 4, inode }], (_, { newlineLeft }) => found.push(newlineLeft));
    expect(found).toEqual([undefined, undefined, undefined, false]);
  });
});

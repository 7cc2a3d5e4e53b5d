import { mkdirSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { describe, expect, test } from 'vitest';
import { observe } from '../../../src/core/look/observe.ts';
import { Collector } from '../../../src/daemon/collect.ts';
import { NodeHost } from '../../../src/node/node-host.ts';
import { ABSENT, policy, posText, subject } from '../../support/builders.ts';
import { cpuSeconds } from '../../support/cpu-seconds.ts';
import { tempDir } from '../../support/temp-dir.ts';

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

describe('a log file of 1 TiB without a newline', () => {
  test('holds up no look: bytes are left, and whether a line ends in them is not known', async () => {
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
});

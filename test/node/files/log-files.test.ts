import { mkdirSync, statSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { describe, expect, test } from 'vitest';
import { observe } from '../../../src/core/look/observe.ts';
import type { FileLook } from '../../../src/core/look/snapshot.ts';
import { Collector } from '../../../src/daemon/collect.ts';
import { lookAt } from '../../../src/node/files/log-files.ts';
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

describe('an entry whose file is behind a link', () => {
  const errorOf = async (path: string, root?: string) => {
    const looks: FileLook[] = [];
    const entry = { key: path, path, position: 0, inode: '1' };
    await lookAt([entry], (_, look) => looks.push(look), root);
    return looks[0]?.error;
  };

  test('cannot be looked at where the link leads to a part of the node that is not mounted', async () => {
    mkdirSync(inDir('root'));
    for (const at of ['away.log', 'root/away.log'])
      symlinkSync('/none/docker/containers/1/1-json.log', inDir(at));
    expect(await errorOf(inDir('away.log'))).toMatch(/^it is a link to a place that posidle does not see/);
    expect(await errorOf('/away.log', inDir('root'))).toMatch(/^it is a link to a place/);
  });

  test('is only gone where the directories above it are there, as those of a removed Pod, or where no link is', async () => {
    symlinkSync(inDir('pods/uid/main/0.log'), inDir('gone.log'));
    mkdirSync(inDir('pods'));
    for (const name of ['gone.log', 'none/of/these/directories.log'])
      expect(await errorOf(inDir(name))).toBeUndefined();
  });
});

test('a log file of 1 TiB without a newline holds up no look: bytes are left, and whether a line ends in them is not known', async () => {
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

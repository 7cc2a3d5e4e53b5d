import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { linkSync, mkdirSync, writeFileSync } from 'node:fs';
import { afterEach, describe, expect, test } from 'vitest';
import { isFluentd, isWorker } from '../../../src/core/fluentd/processes.ts';
import { listProc, readProc } from '../../../src/node/processes/proc.ts';
import { tempDir } from '../../support/temp-dir.ts';
import { until } from '../../support/until.ts';

const inRoot = tempDir();

let child: ChildProcess | undefined;

afterEach(() => child?.kill('SIGKILL'));

/** A process with these words, and what the process table says of it. */
async function started(...words: readonly string[]) {
  child = spawn('/bin/sh', ['-c', 'read -r _', ...words], { stdio: ['pipe', 'ignore', 'ignore'] });
  await once(child, 'spawn');
  const read = () => readProc(child?.pid ?? -1)[0];
  return until('it runs its own program', () => (read()?.argv[0] === '/bin/sh' ? read() : undefined));
}

describe('a command line', () => {
  test('is given whole where it is short', async () => {
    const { argv } = await started('fluentd', '-c', 'a b');
    expect(argv).toEqual(['/bin/sh', '-c', 'read -r _', 'fluentd', '-c', 'a b']);
  });

  test('with 1 MB is cut at 4 KiB', async () => {
    const words = Array.from({ length: 10 }, () => 'x'.repeat(100_000));
    const { argv } = await started(...words);
    expect(argv.slice(0, 3)).toEqual(['/bin/sh', '-c', 'read -r _']);
    expect(argv.join(' ').length).toBeLessThanOrEqual(4_096);
  });

  test('keeps its end: a Fluentd with a long --inline-config is still told from its worker', async () => {
    const config = '<source>\n@type dummy\n</source>\n'.repeat(300);
    const { argv } = await started('fluentd', '-i', config, '--under-supervisor');
    expect(isWorker(argv)).toBe(true);
    expect(isFluentd(argv.slice(3))).toBe(true);
  });
});

test('is kept shorter if there are many processes', async () => {
  writeFileSync(inRoot('stat'), `1 (x) S 1${' 0'.repeat(20)}`);
  writeFileSync(inRoot('cmdline'), `fluentd\0${'x\0'.repeat(4_000)}--under-supervisor\0`);
  for (let pid = 1; pid <= 700; pid += 1) {
    mkdirSync(inRoot(String(pid)));
    for (const name of ['stat', 'cmdline']) linkSync(inRoot(name), inRoot(`${pid}/${name}`));
  }
  const rows = await listProc(inRoot());
  expect(rows).toHaveLength(700);
  expect(rows.every(({ argv }) => isFluentd(argv) && isWorker(argv))).toBe(true);
  expect(rows.flatMap(({ argv }) => argv).join(' ').length).toBeLessThanOrEqual(2 * 1024 ** 2 + 700);
});

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterEach, describe, expect, test } from 'vitest';
import { findMains, isFluentd, isWorker } from '../../../src/core/fluentd/processes.ts';
import { Proc } from '../../../src/node/processes/proc.ts';
import { cpuSeconds } from '../../support/cpu-seconds.ts';
import { until } from '../../support/until.ts';

let child: ChildProcess | undefined;

afterEach(() => child?.kill('SIGKILL'));

/** A process with these words, and what the process table says of it. */
async function started(...words: readonly string[]) {
  child = spawn('/bin/sh', ['-c', 'read -r _', ...words], { stdio: ['pipe', 'ignore', 'ignore'] });
  await once(child, 'spawn');
  const read = () => new Proc().read(child?.pid ?? -1);
  return until('it runs its own program', () => (read()?.argv[0] === '/bin/sh' ? read() : undefined));
}

describe('a command line', () => {
  test('is given whole where it is short', async () => {
    const { argv } = await started('fluentd', '-c', 'a b');
    expect(argv).toEqual(['/bin/sh', '-c', 'read -r _', 'fluentd', '-c', 'a b']);
  });

  test('of 1 MB is cut at 4 KiB', async () => {
    const words = Array.from({ length: 10 }, () => 'x'.repeat(100_000));
    const { argv } = await started(...words);
    expect(argv.slice(0, 3)).toEqual(['/bin/sh', '-c', 'read -r _']);
    expect(argv.join(' ').length).toBeLessThanOrEqual(4_096);
  });

  test('of 1 MB is matched at once, whatever the pattern', async () => {
    await started('a'.repeat(100_000), 'a'.repeat(100_000), 'a'.repeat(100_000));
    const match = () => findMains(new Proc().list(), /(a+)b.*c/, process.pid);
    expect(await cpuSeconds(match)).toBeLessThan(5);
  });

  test('keeps its end: a Fluentd with a long --inline-config is still told from its worker', async () => {
    const config = '<source>\n@type dummy\n</source>\n'.repeat(300);
    const { argv } = await started('fluentd', '-i', config, '--under-supervisor');
    expect(isWorker(argv)).toBe(true);
    expect(isFluentd(argv.slice(3))).toBe(true);
  });

  test('keeps its end: the main class stands behind a long class path', async () => {
    await started('java', '-cp', '/app/lib/a-library-1.0.jar:'.repeat(4_000), 'com.example.Main');
    const mains = findMains(new Proc().list(), /com\.example\.Main$/, process.pid);
    expect(mains.map(({ pid }) => pid)).toEqual([child?.pid]);
  });
});

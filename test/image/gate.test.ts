import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { constants, existsSync, openSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { until } from '../support/until.ts';
import { SHELLS, temporaryDir } from './scripts.ts';

describe.each(SHELLS)('the gate, by %s', (shell) => {
  const [command = '', ...words] = [...shell.split(' '), 'docker/image/gate'];
  const envIn = (dir: string) => ({
    PATH: process.env.PATH,
    POSIDLE_DIR: dir,
    POSIDLE_TERMINATION_LOG: join(dir, 'word'),
  });
  const start = async (dir: string): Promise<ChildProcess> => {
    const gate = spawn(command, words, { env: envIn(dir), stdio: 'ignore', detached: true });
    onTestFinished(() => void spawnSync('kill', ['-KILL', '--', `-${gate.pid}`]));
    await until('the gate is up', () => lives(dir));
    return gate;
  };
  const callHook = (dir: string) => spawnSync(command, [...words, 'ending'], { env: envIn(dir) });

  test('says that main may run, from its first moment on', async () => {
    const dir = temporaryDir();
    await start(dir);
    expect(existsSync(join(dir, 'up'))).toBe(true);
    expect(existsSync(join(dir, 'main-ended'))).toBe(false);
  });

  test('says that main has ended when the kubelet stops it, and ends at once', async () => {
    const dir = temporaryDir();
    const gate = await start(dir);
    writeFileSync(join(dir, 'hook'), '');
    callHook(dir);
    gate.kill('SIGTERM');
    expect(await once(gate, 'exit')).toEqual([0, null]);
    expect(timeOf(dir, 'main-ended')).toBeGreaterThanOrEqual(timeOf(dir, 'ending'));
    expect(existsSync(join(dir, 'word'))).toBe(false);
  });

  test('tells by its FIFO that it was killed', async () => {
    const dir = temporaryDir();
    const gate = await start(dir);
    spawnSync('kill', ['-KILL', '--', `-${gate.pid}`]);
    await until('nobody reads the FIFO', () => !lives(dir));
    expect(existsSync(join(dir, 'main-ended'))).toBe(false);
  });

  test('takes back what it has said when it is started again', async () => {
    const dir = temporaryDir();
    for (const name of ['up', 'ending', 'main-ended']) writeFileSync(join(dir, name), '');
    await start(dir);
    expect(['up', 'ending', 'main-ended'].filter((name) => existsSync(join(dir, name)))).toEqual(['up']);
  });

  test('leaves a word of its own where no hook has run lately: Fluentd did not run', async () => {
    const [without, longAgo] = [temporaryDir(), temporaryDir()];
    utimesSync(touch(join(longAgo, 'hook')), 1, 1);
    for (const dir of [without, longAgo]) callHook(dir);
    const end = async (dir: string) => {
      const gate = await start(dir);
      gate.kill('SIGTERM');
      expect(await once(gate, 'exit')).toEqual([0, null]);
      expect(JSON.parse(readFileSync(join(dir, 'word'), 'utf8'))).toEqual({
        version: 1,
        outcome: 'unproven',
        why: 'Fluentd did not run when main ended: nobody drained it',
      });
    };
    await Promise.all([end(without), end(longAgo)]);
  });
});

function touch(path: string): string {
  writeFileSync(path, '');
  return path;
}

function timeOf(dir: string, name: string): number {
  return statSync(join(dir, name)).mtimeMs;
}

function lives(dir: string): boolean {
  try {
    openSync(join(dir, 'gate-lives'), constants.O_WRONLY | constants.O_NONBLOCK);
    return true;
  } catch {
    return false;
  }
}

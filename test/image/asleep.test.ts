import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { ProcessRow } from '../../src/core/progress/fluentd-reading.ts';
import { listProcesses } from '../../src/node/processes/processes.ts';
import { until } from '../support/until.ts';
import { imageDir, SHELLS, temporaryDir } from './scripts.ts';

/** Writes how it was called, and then what the test's `then` says. */
const DRAIN = 'echo "$$ $*" >>"$POSIDLE_DIR/calls"; ';

describe.each(SHELLS)('asleep, by %s', (shell) => {
  /** A directory with the script and a posidle that does this, and the environment of both. */
  function site(then: string, variables = {}) {
    const [home, dir] = [imageDir(), temporaryDir()];
    writeFileSync(join(home, 'posidle'), `#!/bin/sh\n${DRAIN}${then}\n`);
    chmodSync(join(home, 'posidle'), 0o755);
    const word = join(dir, 'word');
    const env = { PATH: process.env.PATH, POSIDLE_DIR: dir, POSIDLE_TERMINATION_LOG: word, ...variables };
    const command = [...shell.split(' '), join(home, 'asleep')];
    const read = (name: string) => (existsSync(join(dir, name)) ? readFileSync(join(dir, name), 'utf8') : '');
    return { home, dir, env, command, read };
  }

  /** Starts it beside an older mark, and resolves when it sleeps: its trap is set then. */
  async function asleep({ command, env, dir }: ReturnType<typeof site>): Promise<ChildProcess> {
    writeFileSync(join(dir, 'ending'), '');
    const [program = '', ...words] = command;
    const script = spawn(program, words, { env, stdio: 'ignore', detached: true });
    onTestFinished(() => void spawnSync('kill', ['-KILL', '--', `-${script.pid}`]));
    await until('it sleeps', () => hasChild(script.pid, 'sleep'));
    return script;
  }

  test('takes back the mark of the container before it, runs no posidle until it is stopped, and ends as the drain does', async () => {
    const place = site('exit 3');
    const script = await asleep(place);
    expect(existsSync(join(place.dir, 'ending'))).toBe(false);
    expect(place.read('calls')).toBe('');
    script.kill('SIGTERM');
    expect(await once(script, 'exit')).toEqual([3, null]);
    expect(place.read('calls')).toMatch(/^\d+ drain --main-ended\n$/);
  });

  test('runs the bundle on Node where there is no image', async () => {
    const place = site('');
    rmSync(join(place.home, 'posidle'));
    writeFileSync(
      join(place.home, 'posidle.cjs'),
      `require('fs').writeFileSync(process.env.POSIDLE_DIR + '/calls', process.argv.slice(2).join(' '))`,
    );
    const script = await asleep(place);
    script.kill('SIGTERM');
    expect(await once(script, 'exit')).toEqual([0, null]);
    expect(place.read('calls')).toBe('drain --main-ended');
  });

  test('says that the drain was cut off, until the drain says more', async () => {
    const place = site(
      'cat "$POSIDLE_TERMINATION_LOG" >"$POSIDLE_DIR/before"; echo {} >"$POSIDLE_TERMINATION_LOG"',
    );
    const script = await asleep(place);
    script.kill('SIGTERM');
    await once(script, 'exit');
    expect(JSON.parse(place.read('before'))).toMatchObject({
      version: 1,
      outcome: 'unproven',
      why: expect.stringContaining('cut off'),
    });
    expect(place.read('word')).toBe('{}\n');
  });

  test('keeps further signals from the drain', async () => {
    const place = site('until [ -e "$POSIDLE_DIR/go" ]; do sleep 0.05; done');
    const script = await asleep(place);
    script.kill('SIGTERM');
    await until('the drain runs', () => place.read('calls'));
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGTERM'] as const) script.kill(signal);
    writeFileSync(join(place.dir, 'go'), '');
    expect(await once(script, 'exit')).toEqual([0, null]);
    expect(place.read('calls').split('\n')).toHaveLength(2);
  });

  test('ends the drain when it is called with the word stop, and exits with the code of the drain', async () => {
    const place = site('');
    rmSync(join(place.home, 'posidle'));
    const bundle = `process.on('SIGTERM', () => process.exit(3)); setInterval(() => {}, 1_000);
      require('fs').appendFileSync(process.env.POSIDLE_DIR + '/calls', 'drain ')`;
    writeFileSync(join(place.home, 'posidle.cjs'), bundle);
    const [program = '', ...words] = place.command;
    const stop = () => spawnSync(program, [...words, 'stop'], { env: place.env, encoding: 'utf8' });
    const script = await asleep(place);
    const other = spawn(process.execPath, [join(place.home, 'posidle.cjs'), 'inspect'], { stdio: 'ignore' });
    onTestFinished(() => void other.kill('SIGKILL'));
    expect(stop()).toMatchObject({ status: 1, stderr: 'no drain runs: posidle sleeps\n' });
    expect(other.exitCode).toBe(null);
    script.kill('SIGTERM');
    await until('the drain runs', () => place.read('calls'));
    expect(stop().status).toBe(0);
    expect(await once(script, 'exit')).toEqual([3, null]);
    expect(place.read('calls')).toBe('drain ');
  });

  test('takes a signal that comes just as the drain ends for no end of the drain by a signal', async () => {
    const place = site('until [ -e "$POSIDLE_DIR/go" ]; do sleep 0.05; done; exit 3');
    const script = await asleep(place);
    script.kill('SIGTERM');
    const [drain = ''] = (await until('the drain runs', () => place.read('calls'))).split(' ');
    script.kill('SIGSTOP');
    script.kill('SIGTERM');
    writeFileSync(join(place.dir, 'go'), '');
    const isDrain = ({ pid }: ProcessRow) => pid === Number(drain);
    await until('the drain has ended', async () => (await childrenOf(script.pid)).find(isDrain)?.zombie);
    script.kill('SIGCONT');
    expect(await once(script, 'exit')).toEqual([3, null]);
    expect(place.read('calls').split('\n')).toHaveLength(2);
  });

  test('begins the drain once more if it alone was killed', async () => {
    const place = site('[ "$(wc -l <"$POSIDLE_DIR/calls")" = 2 ] || kill -KILL $$');
    const script = await asleep(place);
    script.kill('SIGTERM');
    expect(await once(script, 'exit')).toEqual([0, null]);
    expect(place.read('calls').split('\n')).toHaveLength(3);
  });

  test('begins no other drain if the first one was told to end before Node took the signal', async () => {
    const place = site('kill -TERM $$');
    const script = await asleep(place);
    script.kill('SIGTERM');
    expect(await once(script, 'exit')).toEqual([143, null]);
    expect(place.read('calls').split('\n')).toHaveLength(2);
  });

  test('gives up when the drain was killed twice, and leaves its message', async () => {
    const place = site('kill -KILL $$');
    const script = await asleep(place);
    script.kill('SIGTERM');
    expect(await once(script, 'exit')).toEqual([137, null]);
    expect(place.read('calls').split('\n')).toHaveLength(3);
    expect(place.read('word')).toContain('cut off');
  });

  test('makes its marks where the drain looks for them, in the directory that POSIDLE_WITNESS names', async () => {
    const witness = temporaryDir();
    const place = site('', { POSIDLE_WITNESS: witness });
    const [program = '', ...words] = place.command;
    writeFileSync(join(witness, 'asleep'), '');
    spawnSync(program, [...words, 'ending'], { env: place.env });
    expect(existsSync(join(witness, 'ending'))).toBe(true);
  });

  test('as the preStop hook makes the mark, but not before the first process has its trap', async () => {
    const place = site('');
    const [program = '', ...words] = place.command;
    const hook = spawn(program, [...words, 'ending'], { env: place.env, stdio: 'ignore' });
    const ended = once(hook, 'exit');
    await until('the hook waits', () => hasChild(hook.pid, 'sleep'));
    await asleep(place);
    expect(await ended).toEqual([0, null]);
    expect(existsSync(join(place.dir, 'ending'))).toBe(true);
  });
});

async function hasChild(pid: number | undefined, program: string): Promise<boolean> {
  return (await childrenOf(pid)).some(({ argv }) => argv.includes(program));
}

async function childrenOf(pid: number | undefined): Promise<readonly ProcessRow[]> {
  return (await listProcesses()).filter(({ ppid }) => ppid === pid);
}

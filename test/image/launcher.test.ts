import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { needsRoot } from '../support/needs.ts';
import { until } from '../support/until.ts';
import { imageDir, SHELLS, temporaryDir } from './scripts.ts';

const FOREIGN = { LD_LIBRARY_PATH: '/nowhere', NODE_OPTIONS: '--no', NODE_PATH: '/no', LD_AUDIT: '' };

describe.each(SHELLS)('the launcher, by %s', (shell) => {
  const commandOf = (home: string, ...words: readonly string[]) => [
    ...shell.split(' '),
    join(home, 'posidle'),
    ...words,
  ];
  const launch = (home: string, words: readonly string[], env: NodeJS.ProcessEnv = {}) => {
    const [command = '', ...rest] = commandOf(home, ...words);
    return spawnSync(command, rest, { encoding: 'utf8', env: { PATH: process.env.PATH, ...env } });
  };

  test('runs the Node beside it, with its own libc', () => {
    const home = imageDir();
    const { stdout } = launch(home, ['inspect', 'a b']);
    const [path, lib, ...words] = stdout.split('\n');
    expect([path, lib, ...words.slice(0, 4)]).toEqual([
      '--library-path',
      join(home, 'lib'),
      join(home, 'node'),
      join(home, 'posidle.cjs'),
      'inspect',
      'a b',
    ]);
  });

  test('finds its files through a link', () => {
    const [home, link] = [imageDir(), join(temporaryDir(), 'posidle')];
    symlinkSync(join(home, 'posidle'), link);
    const [command = '', ...words] = [...shell.split(' '), link];
    expect(spawnSync(command, words, { encoding: 'utf8' }).stdout).toContain(join(home, 'node'));
  });

  test('hands on the environment to a Fluentd that it starts', () => {
    expect(launch(imageDir(), ['run'], { ...FOREIGN, RUBYOPT: '-w' }).stdout).toContain(
      'LD_LIBRARY_PATH=/nowhere',
    );
  });

  test('keeps settings for other programs away from a hook', () => {
    const { stdout } = launch(imageDir(), ['drain'], {
      ...FOREIGN,
      RUBYOPT: '-w',
      POSIDLE_DIR: temporaryDir(),
    });
    for (const name of Object.keys(FOREIGN)) expect(stdout).not.toContain(`${name}=`);
    expect(stdout).toContain('RUBYOPT=-w');
  });

  test('leaves a word in a hook that says that the drain was cut off', () => {
    const [dir, word] = [temporaryDir(), join(temporaryDir(), 'word')];
    writeFileSync(word, '');
    const env = { POSIDLE_DIR: dir, POSIDLE_TERMINATION_LOG: word };
    launch(imageDir('cat "$POSIDLE_TERMINATION_LOG"'), ['drain'], env);
    expect(JSON.parse(readFileSync(word, 'utf8'))).toMatchObject({ outcome: 'unproven' });
    launch(imageDir(), ['inspect'], env);
    expect(readFileSync(word, 'utf8')).toContain('cut off');
  });

  test('takes over from a hook that a kubelet began before it was restarted', async () => {
    const [home, dir] = [
      imageDir('exec 3>>"$POSIDLE_DIR/log"; echo $$ >&3; [ -e "$POSIDLE_DIR/second" ] || sleep 60'),
      temporaryDir(),
    ];
    const env = { PATH: process.env.PATH, POSIDLE_DIR: dir };
    const [command = '', ...words] = commandOf(home, 'drain', '--grace', '9s');
    const first = spawn(command, words, { env, stdio: 'ignore' });
    const ended = once(first, 'exit');
    const mark = () => readFileSync(join(dir, 'log'), 'utf8');
    await until('the first hook runs', () => spawnSync('test', ['-s', join(dir, 'log')]).status === 0);
    writeFileSync(join(dir, 'second'), '');
    launch(home, ['drain', '--grace', '9s'], env);
    expect(await ended).toEqual([137, null]);
    expect(readFileSync(join(dir, 'hook'), 'utf8').split('\n')[0]).not.toBe(String(first.pid));
    expect(mark().split('\n')).toHaveLength(3);
  });

  const RUNS = 'echo run >>"$POSIDLE_DIR/runs"; [ ! -e "$POSIDLE_DIR/well" ] || exit 0;';

  test.each([
    ['once more where it is killed', `${RUNS} : >"$POSIDLE_DIR/well"; kill -KILL $$`, 2, 0],
    ['no third time', `${RUNS} kill -KILL $$`, 2, null],
    ['not again where it has an exit code', `${RUNS} exit 4`, 1, 4],
  ])('tries %s', (_, loader, runs, status) => {
    const dir = temporaryDir();
    expect(launch(imageDir(loader), ['drain'], { POSIDLE_DIR: dir }).status).toBe(status);
    expect(readFileSync(join(dir, 'runs'), 'utf8')).toBe('run\n'.repeat(runs));
  });

  test('hands on the signal that ends it', async () => {
    const dir = temporaryDir();
    const home = imageDir('trap "exit 3" TERM; echo up >"$POSIDLE_DIR/runs"; while :; do sleep 0.1; done');
    const [command = '', ...words] = commandOf(home, 'drain');
    const env = { PATH: process.env.PATH, POSIDLE_DIR: dir };
    const hook = spawn(command, words, { env, stdio: 'ignore' });
    const ended = once(hook, 'exit');
    await until('it runs', () => existsSync(join(dir, 'runs')));
    await until('it is named', () => readFileSync(join(dir, 'hook'), 'utf8').split('\n').length === 3);
    hook.kill('SIGTERM');
    expect(await ended).toEqual([3, null]);
  });

  test('lets no name reach the shell', () => {
    const dir = temporaryDir();
    const words = ['drain', '--termination-log', `$(touch ${dir}/a)`, `; touch ${dir}/b;`, '`touch c`'];
    expect(launch(imageDir(), words, { POSIDLE_DIR: dir }).stdout).toContain(words.slice(1).join('\n'));
    expect(readdirSync(dir)).toEqual(['hook']);
  });

  test('ends no other process whose pid stands in the mark of an earlier hook', () => {
    const dir = temporaryDir();
    const other = spawn('sleep', ['60'], { stdio: 'ignore' });
    writeFileSync(join(dir, 'hook'), `${other.pid}\n`);
    launch(imageDir(), ['drain'], { POSIDLE_DIR: dir });
    expect(other.kill('SIGKILL')).toBe(true);
  });

  test.for([
    ['of its own', '--pid --mount-proc'],
    ['that the Pod shares', '--mount'],
  ])(
    "writes a hook's lines into the log of the container, with processes %s",
    ([, namespaces = ''], context) => {
      needsRoot(context);
      const [home, dir] = [imageDir('echo said >&2'), temporaryDir()];
      const hook = commandOf(home, 'drain').join(' ');
      // The first process is the container's, and the hook is no child of it.
      const container = `exec >"${dir}/log"; (POSIDLE_DIR=${dir} ${hook}) >&2; true`;
      const words = ['--fork', ...namespaces.split(' '), 'sh', '-c', container];
      const { stderr } = spawnSync('unshare', words, { encoding: 'utf8' });
      expect(stderr).not.toContain('said');
      expect(readFileSync(join(dir, 'log'), 'utf8')).toBe('said\n');
    },
  );

  test('runs where the process whose log it takes ends meanwhile', (context) => {
    needsRoot(context);
    const [home, dir] = [imageDir('echo run >>"$POSIDLE_DIR/runs"'), temporaryDir()];
    const hook = commandOf(home, 'drain').join(' ');
    // The first process has no log; the others come and go.
    const comers = `while :; do sh -c : >"${dir}/log"; done`;
    const hooks = `i=0; while [ $((i += 1)) -le 100 ]; do POSIDLE_DIR=${dir} ${hook}; done`;
    const container = `exec >&-; (${comers}) & (${comers}) & (${hooks}) >/dev/null; true`;
    const words = ['--fork', '--kill-child', '--pid', '--mount-proc', 'sh', '-c', container];
    spawnSync('unshare', words, { stdio: 'ignore' });
    expect(readFileSync(join(dir, 'runs'), 'utf8').split('\n')).toHaveLength(101);
  });
});

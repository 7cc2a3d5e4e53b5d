import { execFileSync } from 'node:child_process';
import { chmodSync, cpSync, existsSync, mkdirSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { beforeEach, describe, expect, test } from 'vitest';
import { inspectedDir } from '../support/inspected-dir.ts';
import { CLI, loading, POSIDLE, posidle, startPosidle } from '../support/posidle.ts';
import { until } from '../support/until.ts';

const { at, conf, logged, posFile, shell } = inspectedDir();

describe('bad input is named, the rest is shown, and there is no stack', () => {
  test('whatever a pos file is', async () => {
    const texts = {
      binary: '\0\x01\x02\n\xff',
      sqlite: 'SQLite format 3\0\x10\0\x01\x01\0\n\x0c',
      large: '',
    };
    for (const [name, text] of Object.entries(texts)) writeFileSync(at(name), text, 'latin1');
    truncateSync(at('large'), 2 ** 30);
    execFileSync('mkfifo', [at('fifo')]);
    posFile('app.pos', [logged('a.log', 'one\n', 4)]);
    const names = [...Object.keys(texts), 'fifo', 'none', '*.none', 'app.pos'];
    const { stdout, stderr, code } = await posidle('inspect', ...names.map((name) => at(name)));
    for (const told of [
      /binary\n {2}it is no pos file: no whole line of it has path, position and inode\n/,
      /sqlite\n {2}it is an SQLite database, such as Fluent Bit's\. posidle reads Fluentd's pos files\n/,
      /large\n {2}it cannot be read: it is too large: 1\.0 GiB, and at most 64\.0 MiB are read/,
      /fifo\n {2}it cannot be read: it is a pipe, not a regular file/,
      /\/none\n {2}it is not there/,
      /\*\.none\n {2}no file matches it\n/,
      /caught-up .*a\.log/,
    ])
      expect(stdout).toMatch(told);
    expect({ code, stderr }).toEqual({ code: 1, stderr: '' });
  });

  test('files that may not be read, pos file and log file alike', () => {
    posFile('app.pos', [logged('a.log', 'one\n', 4), logged('b.log', 'one\n', 0)]);
    mkdirSync(at('closed'));
    const closed = logged('c.log', 'one\n', 0, at('closed'));
    posFile('more.pos', [closed]);
    posFile('closed.pos', [closed]);
    chmodSync(at('b.log'), 0o000);
    chmodSync(at('closed'), 0o000);
    chmodSync(at('closed.pos'), 0o000);
    // Root reads everything, unless it is stripped of its capabilities.
    const stripped = process.getuid?.() === 0 ? 'setpriv --bounding-set=-all --inh-caps=-all' : '';
    const inspect = `${stripped} "${process.execPath}" "${CLI}" inspect`;
    const { stdout, stderr, status } = shell(`${inspect} closed.pos more.pos app.pos`);
    const asked = shell(`${inspect} more.pos --json`);
    chmodSync(at('closed'), 0o700); // else only root can remove it
    expect(stdout).toMatch(/closed\.pos\n {2}it cannot be read: permission denied/);
    expect(stdout).toMatch(/unreadable +\? .*c\.log\n {2}cannot look at .*c\.log: permission denied/);
    expect(stdout).toMatch(/behind .*b\.log\n[\s\S]*caught-up .*a\.log\n/);
    expect({ status, stderr }).toEqual({ status: 1, stderr: '' });
    const { posFiles } = JSON.parse(asked.stdout);
    expect(posFiles).toMatchObject([{ entries: [{ lag: null, state: 'unreadable' }] }]);
  });

  test('a path with a NUL byte', async () => {
    posFile('app.pos', [{ path: '/a\0b', position: 1, inode: 1 }]);
    const { stdout, code } = await posidle('inspect', at('app.pos'));
    expect(stdout).toMatch(/cannot look at \/a\\x00b: its path holds a NUL byte/);
    expect(code).toBe(1);
  });

  test('log files that vanish before they are looked at, and before they are read', () => {
    const names = ['early.log', 'late.log', 'a.log'];
    posFile(
      'app.pos',
      names.map((name) => logged(name, 'one\ntwo\n', name === 'a.log' ? 8 : 4)),
    );
    const preload = `import fs from 'node:fs';
      import { syncBuiltinESMExports } from 'node:module';
      const vanishesBefore = (name, file) => {
        const before = fs[name];
        fs[name] = (path, ...args) => {
          if (path === file) fs.rmSync(file, { force: true });
          return before(path, ...args);
        };
      };
      vanishesBefore('statSync', '${at('early.log')}');
      vanishesBefore('openSync', '${at('late.log')}');
      syncBuiltinESMExports();`;
    const { stdout, stderr, status } = shell(`${loading(preload)} posidle inspect app.pos`);
    expect(stdout).toMatch(/missing +\? .*early\.log\n.* behind +4 B .*late\.log\n.* caught-up .*a\.log\n/);
    expect(stdout).toMatch(/behind by at least 4 B in 2 of 3 files\n$/);
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  });
});

test.each([
  ['inspect ignores it', 'inspect app.pos', 0, ''],
  ['drain needs one', 'drain', 2, 'posidle: --witness off: only a Fluentd with a witness can be drained\n'],
])('no witness is wanted by the environment: %s', (_, words, status, stderr) => {
  posFile('app.pos', [logged('a.log', 'one\n', 4)]);
  const run = shell(`POSIDLE_WITNESS=off posidle ${words}`);
  expect(run).toMatchObject({ status, stderr });
  expect(run.stdout).not.toMatch(/witness/);
});

describe('a mount that never answers', () => {
  const hanging = (patch: string) =>
    loading(`import fs from 'node:fs';
      import { syncBuiltinESMExports } from 'node:module';
      const forEver = new Promise(() => setInterval(() => {}, 60_000));
      ${patch}
      syncBuiltinESMExports();`);

  test('ends a wait for a pos file in time, with a line that says so', () => {
    const patch =
      'const { open } = fs.promises; fs.promises.open = (path, ...args) => /app.pos/.test(path) ? forEver : open(path, ...args);';
    posFile('app.pos', [logged('a.log', 'one\n', 4)]);
    const { stderr, status } = shell(`${hanging(patch)} posidle inspect app.pos --wait 100ms`);
    expect(stderr).toBe(
      'posidle: no look has ended in time: there are very many files, the machine is very busy, or a mount does not answer\n',
    );
    expect(status).toBe(1);
  });

  test('and holds a thread does not keep posidle from ending', () => {
    execFileSync('mkfifo', [at('fifo')]);
    const patch = `void fs.promises.open('${at('fifo')}', 'r');`;
    const { stderr, status } = shell(`${hanging(patch)} posidle inspect --max-lag=1 --wait=1s`);
    expect(stderr).toMatch(/^posidle: --max-lag and --wait: give only one of them\n/);
    expect(status).toBe(137);
  });
});

describe('a look that takes long', () => {
  test.each([
    ['export --listen 0', 0],
    ['inspect --follow', 0],
    ['inspect --wait 1h', 1],
    ['watch --witness off --grace 1s --done-file done', 4],
  ])('leaves `%s` its exit code at a signal', async (words, code) => {
    for (const name of 'abcdefghij') symlinkSync('.', at(name));
    conf('f.conf', [at('*/*/*/*/*.log'), at('app.pos')]);
    posFile('app.pos', []);
    const slow = loading(`import fs from 'node:fs';
      import { syncBuiltinESMExports } from 'node:module';
      const { opendir, stat } = fs.promises;
      fs.promises.opendir = async (...args) => {
        fs.writeFileSync('begun', '');
        for (let times = 0; times < 200; times += 1) await stat('/');
        return opendir(...args);
      };
      syncBuiltinESMExports();`);
    const wrapper = ['sh', '-c', `exec env ${slow} "$@"`, 'sh', ...POSIDLE];
    const running = startPosidle([...words.split(' '), '-c', at('f.conf')], { cwd: at(), wrapper });
    await until('it looks', () => existsSync(at('begun')));
    running.kill('SIGTERM');
    expect(await running.exited).toBe(code);
  });
});

describe('an output that takes no more', () => {
  beforeEach(() =>
    posFile(
      'app.pos',
      Array.from({ length: 5_000 }, (_, inode) => ({ path: `/${inode}`, position: 1, inode })),
    ),
  );

  test.each(['', '--json'])('ends `inspect %s | head -c 9` without a word', (args) => {
    const { stdout, stderr } = shell(`posidle inspect app.pos ${args} | head -c 9; echo \${PIPESTATUS[0]}`);
    expect(stdout).toMatch(/^.{9}0\n$/s);
    expect(stderr).toBe('');
  });

  test.each([
    'inspect app.pos',
    'inject --image x/y:1 job.yaml',
    'witness $PWD',
    'completion',
    '--version',
    'watch --help',
  ])('is named if `%s` meets a full disk', (words) => {
    cpSync('docker/kubernetes/base/job.yaml', at('job.yaml'));
    const { stderr, status } = shell(`posidle ${words} > /dev/full`);
    expect(stderr).toMatch(/^posidle: cannot write to stdout: ENOSPC.*\n$/);
    expect(status).toBe(1);
  });

  test('does no harm to a drain, which writes nothing there', () => {
    const { stderr, status } = shell('posidle drain --main-ended --grace 1s --witness . > /dev/full');
    expect(stderr).not.toMatch(/stdout/);
    expect(status).toBe(4);
  });

  test('does no harm if stdout is closed', () => {
    expect(shell('posidle inspect app.pos >&-')).toMatchObject({ stderr: '', status: 0 });
  });
});

import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { beforeEach, describe, expect, test } from 'vitest';
import { BUNDLE } from '../pods/bundle.ts';
import { inspectedDir } from '../support/inspected-dir.ts';
import { needsRoot } from '../support/needs.ts';
import { posidle } from '../support/posidle.ts';

const { at, conf, logged, posFile, shell } = inspectedDir();
describe('the table', () => {
  test('names every file with what is read and left, what is furthest behind first, and a summary', async () => {
    const entries = [logged('a.log', 'one\n', 4), logged('b.log', `${'x'.repeat(4_095)}\n`, 1_024)];
    posFile('app.pos', entries);
    // However long posidle takes to start: after 10 s what is behind counts as blocked.
    const later = Date.now() / 1_000 + 3_600;
    utimesSync(at('app.pos'), later, later);
    const { stdout, code } = await posidle('inspect', at('app.pos'));
    expect(
      stdout
        .split('\n')
        .slice(1)
        .map((line) =>
          line
            .trim()
            .replace(/ {2,}/g, ' | ')
            .replace(/ \d+s /, ' 0s '),
        ),
    ).toEqual([
      'STATE | LAG | READ | POSITION | SIZE | INODE | AGE | FILE',
      `behind | 3.0 KiB | 25% | 1024 | 4096 | ${entries[1]?.inode} | 0s | ${at()}/b.log`,
      `caught-up | 0 B | 100% | 4 | 4 | ${entries[0]?.inode} | 0s | ${at()}/a.log`,
      '',
      'total: 2 files, 4.0 KiB, 25% read, 3.0 KiB left',
      'behind by 3.0 KiB in 1 of 2 files',
      '',
    ]);
    expect(code).toBe(0);
  });

  test('has colours in a terminal, and none with NO_COLOR, a dumb terminal or a pipe', () => {
    posFile('app.pos', [logged('a.log', 'one\n', 4)]);
    // In a CI that it does not know, Node has no colours (tty.getColorDepth).
    const inTerminal = 'env -u CI script -qec "$(declare -f posidle); posidle inspect app.pos" /dev/null';
    expect(shell('posidle inspect app.pos').stdout).not.toContain('\x1b');
    expect(shell(`TERM=xterm ${inTerminal}`).stdout).toContain('\x1b[32m');
    for (const without of ['TERM=xterm NO_COLOR=1', 'TERM=dumb'])
      expect(shell(`${without} ${inTerminal}`).stdout).not.toContain('\x1b');
  });
});

/** Only those of `run` and `inspect` are put together otherwise. */
test.each(['', 'watch', 'run', 'inspect'])(
  '`posidle %s --help` says how the environment sets an option, and what the exit codes mean',
  async (command) => {
    const { stdout, code } = await posidle(...command.split(' ').filter(Boolean), '--help');
    const said = stdout.replaceAll(/\s+/g, ' ');
    expect(said).toMatch(/ Every option can be set by environment: --some-option X by POSIDLE_SOME_OPTION=X/);
    const [, codes] = said.split(' Exit codes: ');
    expect(codes).toMatch(/; 2 wrong options or configuration/);
    expect(codes?.match(/(^|; )1 .*?a bug: please report it/g)).toHaveLength(1);
    expect(codes?.match(/(^|; )1 /g)).toHaveLength(1);
    expect(code).toBe(0);
  },
);

describe('the pos files', () => {
  const summaryOf = (line: string) => shell(line).stdout;

  beforeEach(() => {
    posFile('app.pos', [logged('a.log', 'one\n', 0)]);
    posFile('other.pos', [logged('b.log', 'one\n', 1), logged('c.log', 'one\n', 1)]);
  });

  test('from the environment count only if none is named', () => {
    const beside = 'POSIDLE_POS_FILE=other.pos posidle inspect --max-lag 0';
    expect(summaryOf(beside)).toMatch(/^behind by 6 B in 2 of 2 files /);
    for (const named of ['app.pos', '-p app.pos', '-- app.pos'])
      expect(summaryOf(`${beside} ${named}`)).toMatch(/^behind by 4 B in 1 of 1 file /);
  });

  test('may stand behind --', () => {
    expect(summaryOf('posidle inspect --max-lag 0 -- app.pos other.pos')).toMatch(
      /^behind by 10 B in 3 of 3 files /,
    );
    expect(summaryOf('posidle inspect --max-lag 0 app.pos -- -dash.pos')).toMatch(
      /^-dash\.pos: it is not there/,
    );
  });
});

describe('for programs', () => {
  test('--max-lag reports oddities of a pos file, and passes anyway', async () => {
    const entry = logged('a.log', 'one\n', 4);
    posFile('app.pos', [entry, entry]);
    expect(await posidle('inspect', at('app.pos'), '--max-lag', '0')).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(
        /^caught up: 1 file; .*app\.pos: 1 path with several entries, .*#3614.*\n$/,
      ),
    });
  });
});

const AS_NOBODY = 'setpriv --reuid 65534 --regid 65534 --clear-groups';
const RUBY = '"#{Dir.pwd}/logs/*.log"';

/** Nothing to ask: no fluentd can be found. */
const alone = (line: string) => shell(`PATH=${at()} ${line}`);
const json = (line: string) => JSON.parse(shell(line).stdout);

describe('an unknown file never counts as read', () => {
  test.each<[string, () => void]>([
    ['a path in Ruby', () => conf('fluent.conf', [RUBY, at('app.pos')])],
    ['a path in Ruby, and an empty pos file', () => conf('fluent.conf', [RUBY, at('empty.pos')])],
    [
      'a second pos file in Ruby',
      () => conf('fluent.conf', [at('a.log'), at('app.pos')], [at('b.log'), '"#{Dir.pwd}/b.pos"']),
    ],
    [
      'a file that cannot be included',
      () => {
        conf('fluent.conf', [at('a.log'), at('app.pos')]);
        copyFileSync(at('fluent.conf'), at('more.conf'));
        writeFileSync(at('fluent.conf'), '@include more.conf\n@include "#{Dir.pwd}/other.conf"\n');
      },
    ],
  ])('%s: --max-lag does not pass', (_, write) => {
    posFile('app.pos', [logged('a.log', 'one\n', 4)]);
    writeFileSync(at('empty.pos'), '');
    write();
    const { status, stdout } = alone('posidle inspect -c fluent.conf --max-lag 1GiB');
    expect(stdout).toMatch(/(Dir\.pwd|could not be evaluated|it is empty)/);
    expect(status).toBe(1);
  });

  test('the table and JSON say so, too', () => {
    posFile('app.pos', [logged('a.log', 'one\n', 4)]);
    conf('fluent.conf', [RUBY, at('app.pos')]);
    expect(alone('posidle inspect -c fluent.conf').stdout).toMatch(
      /^note: posidle cannot tell which files belong to /m,
    );
    const told = JSON.parse(alone('posidle inspect -c fluent.conf --json').stdout);
    expect(told).toMatchObject({ lag: null, caughtUp: false });
  });

  test('a reader that closes the pipe does not change the result of --max-lag', () => {
    posFile('app.pos', [logged('a.log', 'one\ntwo\n', 4)]);
    const { stdout } = shell(`posidle inspect app.pos --max-lag 0 | true; echo \${PIPESTATUS[0]}`);
    expect(stdout).toBe('1\n');
  });
});

describe('an unreadable file is named, without a stack', () => {
  test.for([
    ['a glob in a closed directory', "inspect 'closed/*.pos'", 1, /closed\/\*\.pos\n.*permission denied/],
    [
      'a configuration in a closed directory',
      'inspect app.pos -c closed/f.conf',
      2,
      /--fluent-conf: .*permission denied/,
    ],
    ['a closed root', 'inspect --root closed/inner app.pos', 2, /--root: closed\/inner: permission denied/],
  ] as const)('%s', ([, words, code, said], context) => {
    needsRoot(context);
    posFile('app.pos', [logged('a.log', 'one\n', 4)]);
    mkdirSync(at('closed'));
    chmodSync(at(), 0o755);
    chmodSync(at('closed'), 0o700);
    // Nobody may have no way to the checkout, where it lies below a closed home.
    copyFileSync(BUNDLE, at('posidle.cjs'));
    // Without a shell: setpriv itself still has the right to reach Node's directory.
    const command = `${AS_NOBODY} "${process.execPath}" posidle.cjs ${words}`;
    const { stdout, stderr, status } = shell(command);
    expect(stdout + stderr).toMatch(said);
    expect(stdout + stderr).not.toMatch(/^ +at /m);
    expect(status).toBe(code);
  });

  test.each([
    ['inspect --root none app.pos', 2, /--root: none: no such file or directory; name a node's mount/],
    ['inspect --root a.log app.pos', 2, /--root: a\.log isn't a directory/],
  ])('%s', (words, code, said) => {
    posFile('app.pos', [logged('a.log', 'one\n', 4)]);
    const { stdout, stderr, status } = shell(`posidle ${words}`);
    expect(stdout + stderr).toMatch(said);
    expect(stdout + stderr).not.toMatch(/^ +at /m);
    expect(status).toBe(code);
  });
});

describe('below a root lies another world', () => {
  /** Theirs is behind by 4 bytes, ours of the same name is read. */
  const twoWorlds = () => {
    mkdirSync(at('root', at(), 'logs'), { recursive: true });
    mkdirSync(at('logs'));
    const theirs = logged(`root/${at()}/logs/a.log`, 'one\ntwo\n', 4);
    posFile(`root/${at()}/app.pos`, [{ ...theirs, path: at('logs/a.log') }]);
    posFile('app.pos', [logged('logs/a.log', 'one\n', 4)]);
    mkdirSync(at('root/etc/conf.d'), { recursive: true });
  };

  test('the pos files of its configuration are not ours, whatever has the same name here', () => {
    twoWorlds();
    conf('root/etc/f.conf', [at('logs/*.log'), at('app.pos')]);
    conf('root/etc/conf.d/f.conf', [at('logs/*.log'), at('app.pos')]);
    writeFileSync(at('root/etc/inc.conf'), '@include /etc/conf.d/*.conf\n');
    for (const name of ['f.conf', 'inc.conf'])
      expect(json(`posidle inspect --root root -c /etc/${name} --json`)).toMatchObject({
        posFiles: [{ path: at('app.pos'), entries: [{ path: at('logs/a.log'), size: 8, lag: 4 }] }],
      });
    expect(json(`posidle inspect --root root ${at('app.pos')} --json`).lag).toBe(4);
  });

  test('a link out of the root is unknown, and a link to a removed Pod leads nowhere', () => {
    mkdirSync(at('root/containers'), { recursive: true });
    mkdirSync(at('root/pods'));
    posFile('root/app.pos', [{ ...logged('root/containers/a.log', 'one\n', 4), path: '/containers/a.log' }]);
    conf('root/f.conf', ['/containers/*.log', '/app.pos']);
    symlinkSync('/pods/uid/main/0.log', at('root/containers/gone.log'));
    expect(shell('posidle inspect --root root -c /f.conf --max-lag 0').stdout).toBe('caught up: 1 file\n');
    symlinkSync('/var/lib/docker/containers/1/1-json.log', at('root/containers/unmounted.log'));
    const { status, stdout } = shell('posidle inspect --root root -c /f.conf --max-lag 0');
    expect(stdout).toContain('/containers/unmounted.log is a link to a place that posidle does not see');
    expect(status).toBe(1);
    mkdirSync(at('root/var/lib/docker/containers/1'), { recursive: true });
    logged('root/var/lib/docker/containers/1/1-json.log', 'new\n', 0);
    expect(json('posidle inspect --root root -c /f.conf --json')).toMatchObject({
      undiscovered: [{ path: '/containers/unmounted.log', size: 4 }],
      lag: 4,
    });
  });

  test('no configuration of ours stands in for one that is not there', () => {
    posFile('app.pos', [logged('a.log', 'one\n', 4)]);
    conf('f.conf', [at('a.log'), at('app.pos')]);
    mkdirSync(at('root'));
    const { status, stderr } = shell('FLUENT_CONF=$PWD/f.conf posidle inspect --root root');
    expect(stderr).toMatch(/no pos file is named, and no fluent\.conf found/);
    expect(status).toBe(2);
    expect(shell('posidle inspect --root root -c $PWD/f.conf').stderr).toMatch(
      /--fluent-conf: .*f\.conf: no such file or directory/,
    );
  });

  test('the Ruby of its configuration is not run', () => {
    mkdirSync(at('root/logs'), { recursive: true });
    posFile('root/app.pos', [{ ...logged('root/logs/a.log', 'one\n', 4), path: '/logs/a.log' }]);
    conf('root/f.conf', [RUBY, '/app.pos']);
    writeFileSync(at('fluentd'), `#!/bin/sh\ntouch ${at('run')}\n`, { mode: 0o755 });
    const { status, stdout } = shell('PATH=$PWD:$PATH posidle inspect --root root -c /f.conf --max-lag 0');
    expect(stdout).toMatch(
      /^posidle cannot tell which files belong to \/app\.pos: its path could not be evaluated/,
    );
    expect(status).toBe(1);
    const ours = shell('PATH=$PWD:$PATH posidle inspect -c root/f.conf');
    expect(ours.stdout).toMatch(/path is ".*": posidle evaluates only /);
    expect(existsSync(at('run'))).toBe(false);
  });
});

import { chmodSync, copyFileSync, existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { BUNDLE } from '../pods/bundle.ts';
import { inspectedDir } from '../support/inspected-dir.ts';
import { needsRoot } from '../support/needs.ts';

const here = inspectedDir();
const { at, conf, logged, posFile, shell } = here;
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
    ['inspect --root none app.pos', 2, /--root: none: there is no such file; name a node's mount/],
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
      /--fluent-conf: .*f\.conf: there is no such file/,
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

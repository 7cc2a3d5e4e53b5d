import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { librariesIn, mappedIn } from '../src/node/install/runtime.ts';
import { BUNDLE } from './pods/bundle.ts';
import { needsRoot } from './support/needs.ts';

let dir: string;
/** Made once: a copy of Node takes a second. */
let installed: string;
let first: ReturnType<typeof install>;

beforeAll(() => {
  installed = mkdtempSync(join(tmpdir(), 'posidle-installed-'));
  first = install(installed);
});
afterAll(() => rmSync(installed, { recursive: true }));
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'posidle-install-'));
});
afterEach(() => rmSync(dir, { recursive: true }));

describe('install', () => {
  test('leaves a command that runs without any Node on PATH', () => {
    expect(first).toMatchObject({ status: 0, stdout: expect.stringContaining(`run ${installed}/posidle`) });
    const { stdout, status } = spawnSync(join(installed, 'posidle'), ['--version'], {
      env: { PATH: '/usr/bin:/bin' },
      encoding: 'utf8',
    });
    expect(stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
    expect(status).toBe(0);
  });

  test('runs by a symlink too', () => {
    spawnSync('ln', ['-s', join(installed, 'posidle'), join(dir, 'link')]);
    expect(spawnSync(join(dir, 'link'), ['--version']).status).toBe(0);
  });

  test('does nothing the second time', () => {
    const before = fileTimes();
    expect(install(installed).stdout).toMatch(/was there already/);
    expect(fileTimes()).toEqual(before);
  });

  test('clears away what an install that was cut off has left', () => {
    mkdirSync(join(dir, '.posidle', 'unfinished-abc'), { recursive: true });
    writeFileSync(join(dir, '.posidle', 'unfinished-abc', 'node'), 'half');
    install(dir);
    expect(readdirSync(join(dir, '.posidle'))).toHaveLength(1);
    expect(readdirSync(dir).sort()).toEqual(['.posidle', 'posidle']);
  });

  test('installs again from what it has installed', () => {
    const { status, stderr } = spawnSync(join(installed, 'posidle'), ['install', join(dir, 'second')], {
      encoding: 'utf8',
    });
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(spawnSync(join(dir, 'second', 'posidle'), ['--version']).status).toBe(0);
  });

  test('hands no library path on to what it starts', () => {
    const command = ['run', '--pos-file', join(dir, 'a.pos'), '--', 'env'];
    const { stdout } = spawnSync(join(installed, 'posidle'), command, {
      encoding: 'utf8',
      env: { PATH: '/usr/bin:/bin' },
    });
    expect(stdout).toContain('PATH=/usr/bin:/bin');
    expect(stdout).not.toContain('LD_');
  });

  test('says in one line that a file stands where the directory should be', () => {
    writeFileSync(join(dir, 'file'), '');
    const { status, stderr } = install(join(dir, 'file'));
    expect(stderr).toBe(`posidle: install: ${dir}/file is not a directory (ENOTDIR)\n`);
    expect(status).toBe(2);
  });

  test('ends at once where nothing can be made, and says why', () => {
    const { status, stderr } = install('/proc/foo');
    expect(stderr).toBe('posidle: install: /proc/foo cannot be created (ENOENT)\n');
    expect(status).toBe(2);
  });

  test('is for every user, whatever the umask', () => {
    install(join(dir, 'a', 'b'), { umask: '077' });
    const modes = ['a', 'a/b', ...readdirSync(join(dir, 'a', 'b'), { recursive: true, encoding: 'utf8' })];
    expect(modes.length).toBeGreaterThan(6);
    for (const name of readdirSync(join(dir, 'a'), { recursive: true, encoding: 'utf8' }))
      expect([name, modeOf(join(dir, 'a', name))]).toEqual([name, 0o755]);
    expect(modeOf(join(dir, 'a'))).toBe(0o755);
  });

  test('says how much is free where it is not enough, and leaves nothing', (context) => {
    needsRoot(context);
    onTmpfs('size=20m', () => {
      expect(install(dir).stderr).toMatch(/has 20 MiB free, and \d+ MiB are needed\n$/);
      expect(readdirSync(join(dir, '.posidle'))).toEqual([]);
    });
  });

  test('says that a volume is mounted noexec', (context) => {
    needsRoot(context);
    onTmpfs('size=300m,noexec', () => {
      expect(install(dir).stderr).toMatch(/does not run: its volume is mounted noexec\n$/);
    });
  });

  test('says that the volume is read-only', (context) => {
    needsRoot(context);
    onTmpfs('ro', () => {
      expect(install(dir).stderr).toBe(`posidle: install: ${dir} is mounted read-only (EROFS)\n`);
    });
  });
});

describe('what a process has mapped', () => {
  test('is the program itself and its loader', () => {
    const maps = [
      '555555554000-5555555a8000 r--p 00000000 08:01 131 /usr/local/bin/node',
      '5555555a8000-555555700000 r-xp 00054000 08:01 131 /usr/local/bin/node',
      '7ffff7dc0000-7ffff7f00000 r-xp 00026000 08:01 200 /usr/lib/x86_64-linux-gnu/libc.so.6',
      '7ffff7fc6000-7ffff7ff0000 r-xp 00001000 08:01 201 /usr/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2',
      '7ffff7fc2000-7ffff7fc6000 r-xp 00000000 00:00 0 [vdso]',
    ].join('\n');
    expect(mappedIn(maps)).toEqual({
      program: '/usr/local/bin/node',
      loader: '/usr/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2',
    });
  });

  test('may have no loader: a static program', () => {
    expect(mappedIn('00400000-01000000 r-xp 00000000 08:01 131 /node')).toEqual({
      program: '/node',
      loader: undefined,
    });
  });

  test.each([
    [
      'glibc',
      '\tlinux-vdso.so.1 (0x7fff)\n\tlibm.so.6 => /lib/x86_64-linux-gnu/libm.so.6 (0x7f1)\n\t/lib64/ld-linux-x86-64.so.2 (0x7f2)\n',
      { 'libm.so.6': '/lib/x86_64-linux-gnu/libm.so.6' },
    ],
    [
      'musl',
      '\t/lib/ld-musl-x86_64.so.1 (0x7f)\n\tlibstdc++.so.6 => /usr/lib/libstdc++.so.6 (0x7e)\n',
      { 'libstdc++.so.6': '/usr/lib/libstdc++.so.6' },
    ],
  ])('names its libraries as %s lists them', (_, list, libraries) => {
    expect(Object.fromEntries(librariesIn(list))).toEqual(libraries);
  });
});

function install(target: string, { umask = '022' } = {}) {
  const words = [process.execPath, BUNDLE, 'install', target];
  return spawnSync('sh', ['-c', `umask ${umask}; exec "$@"`, 'sh', ...words], { encoding: 'utf8' });
}

function modeOf(path: string): number {
  return statSync(path).mode & 0o777;
}

function onTmpfs(options: string, use: () => void): void {
  const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', dir]);
  expect(mounted.stderr.toString()).toBe('');
  try {
    use();
  } finally {
    spawnSync('umount', [dir]);
  }
}

function fileTimes(): readonly number[] {
  const files = readdirSync(join(installed, '.posidle'), { recursive: true, encoding: 'utf8' });
  return files.map((file) => statSync(join(installed, '.posidle', file)).ctimeMs);
}

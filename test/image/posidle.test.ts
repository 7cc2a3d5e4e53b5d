import { spawnSync } from 'node:child_process';
import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { imageDir, SHELLS, temporaryDir } from './scripts.ts';

describe.each(SHELLS)('the command of the image, by %s', (shell) => {
  const launch = (path: string, words: readonly string[], env: NodeJS.ProcessEnv = {}) => {
    const [command = '', ...rest] = [...shell.split(' '), path, ...words];
    return spawnSync(command, rest, { encoding: 'utf8', env: { PATH: process.env.PATH, ...env } });
  };

  test('runs the Node beside it, with its own libc', () => {
    const home = imageDir();
    const { stdout } = launch(join(home, 'posidle'), ['inspect', 'a b']);
    expect(stdout.split('\n').slice(0, 6)).toEqual([
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
    expect(launch(link, []).stdout).toContain(join(home, 'node'));
  });

  test('keeps what is preloaded for Fluentd away from its own libc, and hands it on to a Fluentd that it starts', () => {
    const preloaded = { LD_AUDIT: '', LD_LIBRARY_PATH: '/nowhere' };
    const path = join(imageDir(), 'posidle');
    expect(launch(path, ['drain'], preloaded).stdout).not.toContain('LD_');
    expect(launch(path, ['run'], preloaded).stdout).toContain('LD_LIBRARY_PATH=/nowhere');
  });
});

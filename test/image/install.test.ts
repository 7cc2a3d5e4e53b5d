import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { needsRoot } from '../support/needs.ts';
import { imageDir, SHELLS, temporaryDir } from './scripts.ts';

describe.each(SHELLS)('install, by %s', (shell) => {
  const install = (from: string, to: string) => {
    const [command = '', ...words] = shell.split(' ');
    return spawnSync(command, [...words, join(from, 'install'), to], { encoding: 'utf8' });
  };

  test('puts all of the image into the directory, for every user', () => {
    const [from, to] = [imageDir(), temporaryDir()];
    expect(install(from, to)).toMatchObject({ status: 0, stderr: '' });
    expect(filesIn(to)).toEqual(filesIn(from));
    expect(statSync(join(to, 'posidle')).mode & 0o777).toBe(0o755);
    expect(statSync(join(to, 'witness.rb')).mode & 0o777).toBe(0o644);
  });

  test('makes the files anew: their time is the birth of the Pod', () => {
    const [from, to] = [imageDir(), temporaryDir()];
    utimesSync(join(from, 'witness.rb'), 1, 1);
    install(from, to);
    expect(statSync(join(to, 'witness.rb')).mtimeMs).toBeGreaterThan(Date.now() - 60_000);
  });

  test('leaves alone what is there already', () => {
    const [from, to] = [imageDir(), temporaryDir()];
    install(from, to);
    writeFileSync(join(to, 'witness.rb'), 'kept');
    expect(install(from, to).status).toBe(0);
    expect(readFileSync(join(to, 'witness.rb'), 'utf8')).toBe('kept');
  });

  test('completes what was cut off before', () => {
    const [from, to] = [imageDir(), temporaryDir()];
    for (const folder of ['lib', 'ruby', '.new']) mkdirSync(join(to, folder));
    writeFileSync(join(to, '.new/half'), '');
    install(from, to);
    expect(filesIn(to)).toEqual(filesIn(from));
  });

  test('ends with 0 where nothing can be made, and says so', () => {
    const { status, stderr } = install(imageDir(), '/proc/posidle');
    expect(status).toBe(0);
    expect(stderr).toContain('posidle: cannot install into /proc/posidle. Fluentd runs without it');
  });

  test('ends with 0 where the volume is full, and leaves nothing', (context) => {
    needsRoot(context);
    const [from, to] = [imageDir(), temporaryDir()];
    writeFileSync(join(from, 'node'), Buffer.alloc(2 ** 20));
    spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=256k', 'tmpfs', to]);
    onTestFinished(() => void spawnSync('umount', [to]));
    expect(install(from, to)).toMatchObject({ status: 0, stderr: expect.stringContaining('cannot install') });
    expect(readdirSync(to)).toEqual([]);
  });
});

function filesIn(dir: string): readonly string[] {
  return readdirSync(dir, { recursive: true, encoding: 'utf8' }).toSorted();
}

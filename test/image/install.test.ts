import { spawnSync } from 'node:child_process';
import {
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { needsRoot } from '../support/needs.ts';
import { imageDir, SHELLS, temporaryDir } from './scripts.ts';

const WITNESS = ['files.rb', 'orders.rb', 'receipts.rb', 'ruby', 'ruby/enumerator.rb', 'witness.rb'];

describe.each(SHELLS)('install, by %s', (shell) => {
  const install = (from: string, to: string) => {
    const [command = '', ...words] = shell.split(' ');
    return spawnSync(command, [...words, join(from, 'install'), to], { encoding: 'utf8' });
  };

  test('makes the witness anew in the directory, and nothing else, for every user: its time is the birth of the Pod', () => {
    const [from, to] = [imageDir(), temporaryDir()];
    utimesSync(join(from, 'witness.rb'), 1, 1);
    expect(install(from, to)).toMatchObject({ status: 0, stderr: '' });
    expect(filesIn(to)).toEqual(WITNESS);
    for (const name of WITNESS) expect(statSync(join(to, name)).mode & 0o444).toBe(0o444);
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
    const to = temporaryDir();
    mkdirSync(join(to, 'ruby'));
    writeFileSync(join(to, 'ruby/.new'), 'ha');
    writeFileSync(join(to, 'witness.rb'), 'ha');
    install(imageDir(), to);
    expect(filesIn(to)).toEqual(WITNESS);
    expect(readFileSync(join(to, 'witness.rb'), 'utf8')).toBe('witness.rb');
  });

  test('writes through no link that stands in the directory', () => {
    const [to, outside] = [temporaryDir(), temporaryDir()];
    writeFileSync(join(outside, 'victim'), 'mine');
    symlinkSync(join(outside, 'victim'), join(to, 'files.rb'));
    symlinkSync(outside, join(to, 'ruby'));
    expect(install(imageDir(), to)).toMatchObject({ status: 0, stderr: '' });
    expect(filesIn(to)).toEqual(WITNESS);
    expect(filesIn(outside)).toEqual(['victim']);
    expect(readFileSync(join(outside, 'victim'), 'utf8')).toBe('mine');
  });

  test('ends with 0 where nothing can be made, and says so', () => {
    const { status, stderr } = install(imageDir(), '/proc/posidle');
    expect(status).toBe(0);
    expect(stderr).toContain('posidle: cannot write to /proc/posidle. Fluentd runs without a witness');
  });

  test('ends with 0 where the volume is full, and leaves nothing that Ruby would load', (context) => {
    needsRoot(context);
    const [from, to] = [imageDir(), temporaryDir()];
    writeFileSync(join(from, 'witness.rb'), Buffer.alloc(2 ** 20));
    spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=256k', 'tmpfs', to]);
    onTestFinished(() => void spawnSync('umount', [to]));
    expect(install(from, to)).toMatchObject({ status: 0, stderr: expect.stringContaining('cannot write') });
    expect(filesIn(to)).not.toContain('ruby/enumerator.rb');
  });
});

function filesIn(dir: string): readonly string[] {
  return readdirSync(dir, { recursive: true, encoding: 'utf8' }).toSorted();
}

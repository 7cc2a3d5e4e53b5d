import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/** The shells of Debian and of Alpine, as command lines. */
export const SHELLS = ['sh', 'busybox sh'].filter(
  (shell) => spawnSync(shell.split(' ')[0] ?? '').error === undefined,
);

/** A new directory, removed after the test. */
export function temporaryDir(): string {
  const dir = mkdtempSync(join(tmpdir(), 'posidle-scripts-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

/** A directory as the image has it, with a loader that shows how it is called. */
export function imageDir(): string {
  const dir = temporaryDir();
  for (const name of ['install', 'asleep', 'posidle'])
    copyFileSync(join('docker/image', name), join(dir, name));
  for (const folder of ['lib', 'ruby']) mkdirSync(join(dir, folder));
  writeFileSync(join(dir, 'lib/ld-linux.so.2'), '#!/bin/sh\nprintf "%s\\n" "$@"; env\n', { mode: 0o755 });
  const witness = ['ruby/enumerator.rb', 'files.rb', 'orders.rb', 'receipts.rb', 'witness.rb'];
  for (const name of [...witness, 'node', 'posidle.cjs', 'posidle.LICENSES.txt'])
    writeFileSync(join(dir, name), name);
  return dir;
}

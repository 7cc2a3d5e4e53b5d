import { execFileSync } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Bundles posidle into a folder of its own; gives the path of posidle.cjs. */
export function bundle(): string {
  const dir = mkdtempSync(join(tmpdir(), 'posidle-bundle-'));
  execFileSync(process.execPath, ['docker/bundle.mjs', dir]);
  return join(dir, 'posidle.cjs');
}

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach } from 'vitest';

/** A directory of its own for each test of a file: gives the path of a name in it, or its own. */
export function tempDir(): (...names: readonly string[]) => string {
  let dir = '';
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'posidle-'));
  });
  afterEach(() => rmSync(dir, { recursive: true, force: true }));
  return (...names) => join(dir, ...names);
}

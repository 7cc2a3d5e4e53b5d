import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach } from 'vitest';
import { posText } from './builders.ts';
import { loggedIn, shellIn } from './posidle.ts';

/** A directory of its own for each test of a file. */
export function inspectedDir() {
  let dir = '';
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'posidle-inspect-'));
  });
  afterEach(() => rmSync(dir, { recursive: true, force: true }));
  const at = (...names: readonly string[]) => join(dir, ...names);
  return {
    at,
    /** A log file, and the entry of it. */
    logged: (name: string, text: string, position: number | null) => loggedIn(dir, name, text, position),
    posFile: (name: string, entries: Parameters<typeof posText>[0]) =>
      writeFileSync(at(name), posText(entries)),
    /** A fluent.conf with these in_tail sources: path and pos_file. */
    conf: (name: string, ...sources: readonly (readonly [path: string, posFile: string])[]) =>
      writeFileSync(at(name), sources.map(([path, posFile]) => tailOf(path, posFile)).join('')),
    /** Runs a shell line in it; `posidle` in the line is the built CLI. */
    shell: (line: string) => shellIn(dir, line),
  };
}

function tailOf(path: string, posFile: string): string {
  return `<source>\n@type tail\npath ${path}\npos_file ${posFile}\ntag a\n<parse>\n@type none\n</parse>\n</source>\n`;
}

import { writeFileSync } from 'node:fs';
import { posText } from './builders.ts';
import { loggedIn, shellIn } from './posidle.ts';
import { tempDir } from './temp-dir.ts';

/** A directory of its own for each test of a file. */
export function inspectedDir() {
  const at = tempDir();
  return {
    at,
    /** A log file, and the entry of it. */
    logged: (name: string, text: string, position: number | null, dir = at()) =>
      loggedIn(dir, name, text, position),
    posFile: (name: string, entries: Parameters<typeof posText>[0]) =>
      writeFileSync(at(name), posText(entries)),
    /** A fluent.conf with these in_tail sources: path and pos_file. */
    conf: (name: string, ...sources: readonly (readonly [path: string, posFile: string])[]) =>
      writeFileSync(at(name), sources.map(([path, posFile]) => tailOf(path, posFile)).join('')),
    /** Runs a shell line in it; `posidle` in the line is the built CLI. */
    shell: (line: string, input?: string) => shellIn(at(), line, input),
  };
}

function tailOf(path: string, posFile: string): string {
  return `<source>\n@type tail\npath ${path}\npos_file ${posFile}\ntag a\n<parse>\n@type none\n</parse>\n</source>\n`;
}

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A place in a Ruby source that logs a warning, an error or fatal. */
export interface LogCall {
  /** From `lib/` on. */
  file: string;
  line: number;
  code: string;
  /** Texts that the witness may report of it; none: only a variable is logged. */
  texts: readonly string[];
}

const CALL = /(?:^|[^\w.:])@?\$?(?:log|logger)\.(?:warn|error|fatal)\b[ (]?\s*(.*)$/;
/** Interpolated parts: a path, a word. */
const SAMPLES = ['/x', 'x'];

/** All such calls below a gem's `lib` directory. */
export function logCallsIn(lib: string): LogCall[] {
  const files = readdirSync(lib, { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.rb'),
  );
  return files.sort().flatMap((file) => callsOf(file, readFileSync(join(lib, file), 'utf8').split('\n')));
}

function callsOf(file: string, lines: readonly string[]): LogCall[] {
  return lines.flatMap((text, index): LogCall[] => {
    const rest = CALL.exec(text.replace(/^\s*#.*/, ''))?.[1];
    if (rest === undefined) return [];
    const first = rest.trim() === '' ? (lines[index + 1] ?? '').trim() : rest;
    return [{ file, line: index + 1, code: text.trim(), texts: textsOf(first) }];
  });
}

/** `first`: the arguments, or the block, of a call. */
function textsOf(first: string): string[] {
  if (/^(\{|do\b)/.test(first)) return [''];
  // `$log.warn :supervisor, "…"` names who logs.
  const literal = first.replace(/^:\w+,\s*/, '');
  const plain = /^'((?:\\.|[^'\\])*)'?/.exec(literal)?.[1];
  if (plain !== undefined) return [normalized(plain)];
  const text = /^"((?:\\.|#\{[^}]*\}|[^"\\])*)"?/.exec(literal)?.[1];
  if (text === undefined) return [];
  return SAMPLES.map((sample) => normalized(text.replace(/#\{[^}]*\}/g, sample).replaceAll('\\', '')));
}

/** As the witness does (`kind` in witness.rb). */
function normalized(text: string): string {
  return text
    .replace(/(?<!\w)(["'])(?:\\.|(?!\1)[^\\])*\1?/gs, '$1…$1')
    .replace(/\/\S+/g, '…')
    .replace(/\b[\da-f]{8,}\b|\d+/gi, '#')
    .slice(0, 120);
}

/** One part of a glob between two slashes. */
export type GlobPart =
  | { readonly kind: 'plain'; readonly name: string }
  | { readonly kind: 'names'; readonly matches: (name: string) => boolean }
  /** `**`+`/`: any number of directories; Ruby enters neither dot directories nor symbolic links here. */
  | { readonly kind: 'directories' };

/** One alternative of a pattern, braces expanded. */
export interface Glob {
  /** The fixed part that a walk starts from: empty, or ending with a slash. */
  readonly base: string;
  readonly parts: readonly GlobPart[];
  readonly matches: (path: string) => boolean;
}

const MAX_ALTERNATIVES = 1_000;
const NEVER = '(?!)';

/** A pattern as Ruby's Dir.glob reads it (no flags): braces, `**`+`/`, `*`, `?`, `[…]`, backslash. */
export function parseGlob(pattern: string): Glob[] {
  return expandBraces(pattern)
    .slice(0, MAX_ALTERNATIVES)
    .map((alternative) => parseAlternative(withoutLastBackslash(alternative)));
}

/** Like Ruby, gives nothing where a brace is opened and never closed. */
function expandBraces(pattern: string): string[] {
  const open = openingBrace(pattern);
  if (open === -1) return [pattern];
  const { ends, close } = alternatives(pattern, open);
  if (close === -1) return [];
  const bodies = ends.map((end, index) => pattern.slice((ends[index - 1] ?? open) + 1, end));
  return bodies.flatMap((body) =>
    expandBraces(pattern.slice(0, open) + body + pattern.slice(close + 1)).slice(0, MAX_ALTERNATIVES),
  );
}

function openingBrace(pattern: string): number {
  for (let at = 0; at < pattern.length; at++) {
    if (pattern[at] === '\\') at++;
    else if (pattern[at] === '{') return at;
  }
  return -1;
}

function alternatives(pattern: string, open: number): { ends: number[]; close: number } {
  const ends: number[] = [];
  let depth = 0;
  for (let at = open; at < pattern.length; at++) {
    const char = pattern[at];
    if (char === '\\') at++;
    else if (char === '{') depth++;
    else if (char === ',' && depth === 1) ends.push(at);
    else if (char === '}' && --depth === 0) return { ends: [...ends, at], close: at };
  }
  return { ends, close: -1 };
}

function parseAlternative(pattern: string): Glob {
  const segments = pattern.split('/');
  const plain = segments.slice(0, -1).findIndex(isMagic);
  const fixed = plain === -1 ? segments.length - 1 : plain;
  const base = segments
    .slice(0, fixed)
    .map((segment) => `${unescaped(segment)}/`)
    .join('');
  const rest = dropEmptyAfterDirectories(segments.slice(fixed));
  const expression = new RegExp(`^${escapeText(base)}${pathSource(rest)}$`, 'u');
  return { base, parts: rest.map(toPart), matches: (path) => expression.test(path) };
}

function isMagic(segment: string): boolean {
  return /[*?[]/.test(segment.replace(/\\./gs, ''));
}

/** Ruby skips further slashes and further `**` after `**`+`/`. */
function dropEmptyAfterDirectories(segments: readonly string[]): string[] {
  return segments.filter((segment, index) => {
    if (index === segments.length - 1) return true;
    const previous = segments.slice(0, index).findLast((earlier) => earlier !== '');
    return previous !== '**' || (segment !== '' && segment !== '**');
  });
}

function toPart(segment: string, index: number, all: readonly string[]): GlobPart {
  if (segment === '**' && index < all.length - 1) return { kind: 'directories' };
  if (!isMagic(segment)) return { kind: 'plain', name: unescaped(segment) };
  const expression = new RegExp(`^${nameSource(segment)}$`, 'u');
  return { kind: 'names', matches: (name) => expression.test(name) };
}

function pathSource(segments: readonly string[]): string {
  return segments
    .map((segment, index) => {
      const last = index === segments.length - 1;
      if (segment === '**' && !last) return '(?:[^/.][^/]*/)*';
      return (isMagic(segment) ? nameSource(segment) : escapeText(unescaped(segment))) + (last ? '' : '/');
    })
    .join('');
}

/** A wildcard at the start of a name never takes a dot. */
function nameSource(segment: string): string {
  const source = [...segment.matchAll(/\\(.)|\*+|\?|\[[!^]?([^\]]*)(\]?)|[^\\]/gsu)]
    .map(tokenSource)
    .join('');
  return /^[*?[]/.test(segment) ? `(?!\\.)${source}` : source;
}

function tokenSource(match: RegExpExecArray): string {
  const [token, escaped, members = '', bracket] = match;
  if (escaped !== undefined) return escapeText(escaped);
  if (token.startsWith('*')) return '[^/]*';
  if (token === '?') return '[^/]';
  if (!token.startsWith('[')) return escapeText(token);
  return bracket === ']' ? classSource(members, /^\[[!^]/.test(token)) : NEVER;
}

function classSource(members: string, negated: boolean): string {
  const items = [...members.matchAll(/(\\?.)(?:-(\\?.))?/gsu)].map(([, low = '', high]) => {
    const [from, to] = [unescaped(low), high === undefined ? undefined : unescaped(high)];
    if (to === undefined) return escapeText(from);
    return from <= to ? `${escapeText(from)}-${escapeText(to)}` : '';
  });
  const body = items.join('');
  if (body === '') return negated ? '[^/]' : NEVER;
  return negated ? `[^/${body}]` : `(?!/)[${body}]`;
}

function withoutLastBackslash(pattern: string): string {
  const backslashes = /\\*$/.exec(pattern)?.[0].length ?? 0;
  return backslashes % 2 === 0 ? pattern : pattern.slice(0, -1);
}

function unescaped(segment: string): string {
  return segment.replace(/\\(.)/gsu, '$1');
}

function escapeText(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/-]/g, (char) => `\\u{${char.charCodeAt(0).toString(16)}}`);
}

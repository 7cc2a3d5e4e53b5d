export type GlobPart =
  | { readonly kind: 'plain'; readonly name: string }
  | { readonly kind: 'names'; readonly matches: (name: string) => boolean }
  /** `**`+`/`: any number of directories, except dot directories and symbolic links, as in Ruby. */
  | { readonly kind: 'directories' };

/** One alternative of a pattern, braces expanded. */
export interface Glob {
  /** The directory in which the search starts. Empty, or ends with a slash. */
  readonly base: string;
  readonly parts: readonly GlobPart[];
}

const MAX_ALTERNATIVES = 1_000;
const LINUX_PATH_MAX = 4_096;
/** The characters of all alternatives together. Each costs a microsecond. */
const MAX_EXPANDED = 262_144;

/** Parses a pattern as Ruby's Dir.glob (no flags): braces, `**`+`/`, `*`, `?`, `[…]`, backslash. Throws if it is too large. */
export function parseGlob(pattern: string): Glob[] {
  if (pattern.length > LINUX_PATH_MAX)
    throw new Error(`a pattern has more than ${LINUX_PATH_MAX} characters`);
  const globs: Glob[] = [];
  let expanded = 0;
  for (const alternative of hasOpenBrace(pattern) ? [] : expandBraces(pattern)) {
    globs.push(parseAlternative(alternative));
    if (globs.length > MAX_ALTERNATIVES)
      throw new Error(`a pattern has more than ${MAX_ALTERNATIVES} alternatives`);
    expanded += alternative.length;
    if (expanded > MAX_EXPANDED)
      throw new Error(`a pattern has more than ${MAX_EXPANDED} characters in its alternatives`);
  }
  return globs;
}

/** Ruby finds nothing if a brace is never closed. */
function hasOpenBrace(pattern: string): boolean {
  let depth = 0;
  for (const [token] of pattern.matchAll(/\\.|[{}]/gs)) {
    if (token === '{') depth++;
    if (token === '}' && depth > 0) depth--;
  }
  return depth > 0;
}

/** A pair of braces with no other one in it. */
const INNERMOST = /^((?:[^\\]|\\.)*?)\{((?:[^\\{}]|\\.)*)\}/s;

/** All alternatives, some of them twice if a pair of braces is in another one. */
function* expandBraces(pattern: string): Generator<string> {
  const [found, before, inside] = INNERMOST.exec(pattern) ?? [];
  if (found === undefined) return yield pattern;
  const after = pattern.slice(found.length);
  for (const [, one] of `${inside},`.matchAll(/((?:[^\\,]|\\.)*),/gs))
    yield* expandBraces(`${before}${one}${after}`);
}

function parseAlternative(pattern: string): Glob {
  // After `**/` Ruby skips further slashes and further `**`.
  const segments = pattern.replace(/(?<=(?:^|\/)\*\*\/)(?:\/|\*\*\/)+/g, '').split('/');
  const plain = segments.slice(0, -1).findIndex(isMagic);
  const fixed = plain === -1 ? segments.length - 1 : plain;
  const base = segments.slice(0, fixed).map((segment) => `${unescaped(segment)}/`);
  return { base: base.join(''), parts: segments.slice(fixed).map(toPart) };
}

function isMagic(segment: string): boolean {
  return /[*?[]/.test(segment.replace(/\\./gs, ''));
}

function toPart(segment: string, index: number, all: readonly string[]): GlobPart {
  if (segment === '**' && index < all.length - 1) return { kind: 'directories' };
  if (!isMagic(segment)) return { kind: 'plain', name: unescaped(segment) };
  return { kind: 'names', matches: nameMatcher(segment) };
}

export function hasWildcard(argument: string): boolean {
  return /[*?]/.test(argument);
}

/** A pos file argument as a pattern: only `*` and `?` are wildcards, and `**` means `*`. */
export function patternOfArgument(argument: string): string {
  return argument
    .replace(/[\\[\]{}]/g, '\\$&')
    .replace(/\*+/g, '*')
    .replace(/\/+/g, '/');
}

/** Of one part of a glob: an escaped sign, `*`, `?`, a class, any other sign. */
const TOKEN = /\\(.)|\*+|\?|\[[!^]?([^\]]*)(\]?)|[^\\]/gsu;

/**
 * Gives a test whether one part of a glob matches a name. Only the last `*` backtracks, so that no name takes for ever: each other one
 * takes the first place that fits, because a lookahead is never tried again.
 */
export function nameMatcher(segment: string): (name: string) => boolean {
  const parts = [''];
  for (const token of segment.matchAll(TOKEN))
    if (token[0].startsWith('*')) parts.push('');
    else parts.push(`${parts.pop()}${patternOf(token)}`);
  const [first, ...others] = parts;
  const last = others.pop();
  const middle = others.map((part, index) => `(?=(?<s${index}>[^]*?${part}))\\k<s${index}>`);
  const end = last === undefined ? '' : `[^]*${last}`;
  const pattern = new RegExp(`^${first}${middle.join('')}${end}$`, 'u');
  // A wildcard at the start of a name never matches a dot.
  const hidesDots = /^[*?[]/.test(segment);
  return (name) => !(hidesDots && name.startsWith('.')) && pattern.test(name);
}

function patternOf([token, escaped, members = '', bracket]: RegExpMatchArray): string {
  if (token === '?') return '[^]';
  if (!token.startsWith('[')) return codeOf(escaped ?? token);
  if (bracket !== ']') return '[]';
  const ranges = [...members.matchAll(/(\\?.)(?:-(\\?.))?/gsu)].map(([, low = '', high = low]) => {
    const [from, to] = [unescaped(low), unescaped(high)];
    return (from.codePointAt(0) ?? 0) <= (to.codePointAt(0) ?? 0) ? `${codeOf(from)}-${codeOf(to)}` : '';
  });
  return `[${/^\[[!^]/.test(token) ? '^' : ''}${ranges.join('')}]`;
}

function codeOf(sign: string): string {
  return `\\u{${sign.codePointAt(0)?.toString(16)}}`;
}

function unescaped(segment: string): string {
  return segment.replace(/\\(.)/gsu, '$1');
}

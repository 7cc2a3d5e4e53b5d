import { type ConfValue, joinParts, type Ruby } from './element.ts';

/** Never leaves the parser: `parseConf` turns it into a problem. */
export class SyntaxProblem extends Error {}

/** The rest of the line with comments, and empty lines after it (`LINE_END` in `lib/fluent/config/basic_parser.rb`). */
export const LINE_END = /(?:[ \t]*(?:#[^\n]*)?(?:$|[\r\n]))+/y;

export const SPACING = /(?:[ \t\r\n]|#[^\r\n]*)+/y;

const BLANK = /[ \t\r\n]+/y;
// A comment begins only after white space. No pattern looks at a blank more than twice, because a hostile file may have very many.
const TO_LINE_END = /(?:[^ \t\r\n]|[ \t]+(?![ \t#\r\n]|$))+/y;
const TO_TAG_END = /(?:[^ \t\r\n>]|[ \t]+(?![ \t>]))+/y;

const IN_JSON = /#[^\n]*|"|[[\]{}]|[^"#[\]{}]+/y;
const IN_JSON_STRING = /#\{|"|(?:[^"\\#]|\\[\s\S]|#(?!\{))+/y;

const LONGEST_RUBY = 4_000;

export type Boundary = 'line-end' | 'space' | 'tag-end';

const ESCAPES: Readonly<Record<string, string>> = { r: '\r', n: '\n', t: '\t', f: '\f', b: '\b', '0': '\0' };

export class Scanner {
  position = 0;
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  get done(): boolean {
    return this.position >= this.text.length;
  }

  /** Reads and gives what a sticky pattern matches here; undefined if it does not match. */
  take(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.position;
    const found = pattern.exec(this.text)?.[0];
    if (found !== undefined) this.position += found.length;
    return found;
  }
}

/** The value of a parameter: JSON, a quoted string, or the rest of the line. */
export function literal(scanner: Scanner): ConfValue {
  scanner.take(BLANK);
  return scanner.take(/(?=[[{])/y) === undefined ? stringLiteral(scanner, 'line-end') : json(scanner);
}

export function stringLiteral(scanner: Scanner, boundary: Boundary): ConfValue {
  if (scanner.take(/"/y) !== undefined) return doubleQuoted(scanner);
  if (scanner.take(/'/y) !== undefined) return singleQuoted(scanner);
  if (boundary === 'space') return scanner.take(/[^ \t\r\n]+/y) ?? '';
  const endsTag = boundary === 'tag-end' && scanner.take(/(?=[^\r\n]*>)/y) !== undefined;
  return scanner.take(endsTag ? TO_TAG_END : TO_LINE_END) ?? '';
}

function doubleQuoted(scanner: Scanner): ConfValue {
  const parts: (string | Ruby)[] = [];
  while (scanner.take(/"/y) === undefined) parts.push(doubleQuotedPart(scanner));
  return joinParts(parts);
}

function doubleQuotedPart(scanner: Scanner): string | Ruby {
  if (scanner.take(/\\(?:\r\n|[\r\n])/y) !== undefined) return '';
  const escaped = scanner.take(/\\[\s\S]/y);
  if (escaped !== undefined) return unescaped(escaped.charAt(1));
  if (scanner.take(/#\{/y) !== undefined) return embedded(scanner);
  const plain = scanner.take(/#|[^"\\#]+/y);
  if (plain === undefined) throw new SyntaxProblem('a double-quoted string does not end');
  // `LINE_BREAK` in `lib/fluent/config/literal_parser.rb`, since 1.20.
  return plain.replaceAll('\r\n', '\n');
}

function unescaped(char: string): string {
  const known = ESCAPES[char];
  if (known !== undefined) return known;
  if (/[a-zA-Z0-9]/.test(char)) throw new SyntaxProblem(`\\${char} is not an escape that Fluentd knows`);
  return char;
}

/** Since Fluentd 1.20 such a string may span several lines. */
function singleQuoted(scanner: Scanner): string {
  let text = '';
  while (scanner.take(/'/y) === undefined) {
    const part = scanner.take(/\\['\\]|\r\n|[\\\r]|[^'\\\r]+/y);
    if (part === undefined) throw new SyntaxProblem('a single-quoted string does not end');
    text += /^(?:\\.|\r\n)$/s.test(part) ? part.slice(1) : part;
  }
  return text;
}

function embedded(scanner: Scanner): Ruby {
  const end = embeddedEnd(scanner.text, scanner.position);
  const ruby = scanner.text.slice(scanner.position, end);
  scanner.position = end + 1;
  // Fluentd measures the Ruby in characters but skips that many bytes (`scan_embedded_code`).
  if (/[^\0-\x7f]/.test(ruby)) throw new SyntaxProblem('embedded Ruby has a character that is not ASCII');
  return { ruby };
}

function embeddedEnd(text: string, from: number): number {
  let depth = 0;
  const ruby = text.slice(from, from + LONGEST_RUBY);
  for (const { 0: token, index } of ruby.matchAll(/(['"`])(?:(?!\1)[^\\]|\\[\s\S])*\1|[{}#]/g)) {
    if (token === '#') throw new SyntaxProblem('embedded Ruby has a # outside of quotes');
    if (token === '{') depth++;
    if (token === '}' && depth-- === 0) return from + index;
  }
  throw new SyntaxProblem('embedded Ruby does not end');
}

/**
 * Fluentd reads a JSON value up to its closing bracket, over any number of lines. `#` comments may stand outside of strings and `#{…}`
 * inside (`scan_json` in `lib/fluent/config/literal_parser.rb`).
 */
function json(scanner: Scanner): ConfValue {
  const parts: (string | Ruby)[] = [];
  let depth = 0;
  let isQuoted = false;
  do {
    const token = scanner.take(isQuoted ? IN_JSON_STRING : IN_JSON);
    if (token === undefined) throw new SyntaxProblem('a JSON value does not end');
    if (token === '"') isQuoted = !isQuoted;
    if (isQuoted && token === '#{') parts.push(embedded(scanner));
    else if (isQuoted || !token.startsWith('#')) parts.push(token);
    if (!isQuoted && /^[[{]$/.test(token)) depth++;
    if (!isQuoted && /^[\]}]$/.test(token)) depth--;
  } while (isQuoted || depth > 0);
  return joinParts(parts);
}

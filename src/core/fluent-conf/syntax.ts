import {
  type ConfElement,
  type ConfItem,
  type ConfProblem,
  type ParsedConf,
  type Place,
  rootElement,
} from './element.ts';
import { LINE_END, literal, Scanner, SPACING, SyntaxProblem, stringLiteral } from './literal.ts';

type Open = Omit<ConfElement, 'kind' | 'items'> & { readonly items: ConfItem[] };

interface ParseState {
  failures: number;
  /** How many characters failed statements have read: an unclosed list is read to the end of the file. */
  inVain: number;
  readonly scanner: Scanner;
  readonly open: [Open, ...Open[]];
  readonly problems: ConfProblem[];
  readonly placeAt: (position: number) => Place;
}

const NAME = /[a-zA-Z0-9_]+/y;
/** At the top level. The path may follow after a comment, on a later line. */
const INCLUDE = /@?include(?=[ \t\r\n#])/y;
const MOST_FAILURES = 100;
const MOST_IN_VAIN = 8_000_000;
const MOST_DEEP = 50;

/** Parses the v1 syntax (`lib/fluent/config/v1_parser.rb`). Skips what it cannot read, and adds a problem. */
export function parseConf(text: string, file: string): ParsedConf {
  const placeAt = placesIn(text, file);
  const root: Open = { name: 'ROOT', arg: '', items: [], place: placeAt(0) };
  const state: ParseState = {
    failures: 0,
    inVain: 0,
    scanner: new Scanner(text),
    open: [root],
    problems: [],
    placeAt,
  };
  for (skipSpace(state); !state.scanner.done; skipSpace(state)) statement(state);
  for (const { name, place } of state.open.slice(1)) {
    state.problems.push({ place, text: `<${name}> has no end tag </${name}>` });
  }
  while (state.open.length > 1) close(state);
  return { root: rootElement(root.items, root.place), problems: state.problems };
}

function skipSpace({ scanner }: ParseState): void {
  scanner.take(SPACING);
}

function statement(state: ParseState): void {
  const { scanner } = state;
  const start = scanner.position;
  try {
    if (scanner.take(/<\//y) !== undefined) endTag(state);
    else if (scanner.take(/</y) !== undefined) startTag(state, start);
    else line(state, start);
  } catch (error) {
    if (!(error instanceof SyntaxProblem)) throw error;
    state.problems.push({ place: state.placeAt(start), text: error.message });
    state.failures += 1;
    state.inVain += scanner.position - start;
    scanner.position = start;
    scanner.take(/[^\r\n]+/y);
    if (state.failures > MOST_FAILURES || state.inVain > MOST_IN_VAIN) giveUp(state, start);
  }
}

function giveUp({ scanner, problems, placeAt }: ParseState, start: number): void {
  problems.push({ place: placeAt(start), text: 'too many lines have mistakes: posidle reads no further' });
  scanner.position = scanner.text.length;
}

function startTag(state: ParseState, start: number): void {
  const { scanner } = state;
  const name = scanner.take(NAME);
  if (name === undefined) throw new SyntaxProblem('a tag has no name');
  if (state.open.length > MOST_DEEP) throw new SyntaxProblem('sections are nested too deeply');
  scanner.take(SPACING);
  const arg = stringLiteral(scanner, 'tag-end');
  closeTag(scanner);
  state.open.push({ name, arg, items: [], place: state.placeAt(start) });
}

function endTag(state: ParseState): void {
  const { scanner, open } = state;
  const name = scanner.take(NAME);
  closeTag(scanner);
  const depth = open.findLastIndex((element, index) => index > 0 && element.name === name);
  if (depth === -1) throw new SyntaxProblem(`</${name}> has no start tag`);
  for (const { name: inner, place } of open.slice(depth + 1)) {
    state.problems.push({ place, text: `<${inner}> has no end tag </${inner}>` });
  }
  while (open.length > depth) close(state);
}

function closeTag(scanner: Scanner): void {
  scanner.take(SPACING);
  if (scanner.take(/>/y) === undefined) throw new SyntaxProblem('a tag does not end with >');
  expectLineEnd(scanner, 'something follows a tag on its line');
}

function close({ open }: ParseState): void {
  const closed = open.pop();
  if (closed !== undefined) open.at(-1)?.items.push({ kind: 'section', ...closed });
}

function line(state: ParseState, start: number): void {
  const { scanner, open } = state;
  const place = state.placeAt(start);
  const items = open.at(-1)?.items ?? [];
  if (open.length === 1 && scanner.take(INCLUDE) !== undefined) {
    scanner.take(SPACING);
    items.push(included(scanner, place));
    return;
  }
  const name = stringLiteral(scanner, 'space');
  if (typeof name !== 'string') throw new SyntaxProblem('there is Ruby in the name of a parameter');
  const space = scanner.take(/[ \t\r\n]+/y) ?? '';
  if (space.includes('\n') || scanner.done) items.push({ kind: 'param', name, value: '', place });
  else if (name === '@include') items.push(included(scanner, place));
  else items.push({ kind: 'param', name, value: wholeLine(scanner, space), place });
}

function included(scanner: Scanner, place: Place): ConfItem {
  const path = stringLiteral(scanner, 'line-end');
  scanner.take(LINE_END);
  return { kind: 'include', path, place };
}

function wholeLine(scanner: Scanner, space: string): ConfElement['arg'] {
  if (space === '') throw new SyntaxProblem('no space follows the name of a parameter');
  const value = literal(scanner);
  expectLineEnd(scanner, 'something follows a value on its line');
  return value;
}

function expectLineEnd(scanner: Scanner, otherwise: string): void {
  if (scanner.take(LINE_END) === undefined) throw new SyntaxProblem(otherwise);
}

function placesIn(text: string, file: string): (position: number) => Place {
  let line = 1;
  let reached = 0;
  return (position) => {
    for (; reached < position; reached++) if (text[reached] === '\n') line++;
    return { file, line };
  };
}

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
  readonly scanner: Scanner;
  /** The root, and the sections that have not ended. */
  readonly open: [Open, ...Open[]];
  readonly placeAt: (position: number) => Place;
}

const NAME = /[a-zA-Z0-9_]+/y;
/** At the top level. The path may follow after a comment, on a later line. */
const INCLUDE = /@?include(?=[ \t\r\n#])/y;
const MOST_DEEP = 50;

/** Parses the v1 syntax (`lib/fluent/config/v1_parser.rb`) up to the first mistake: Fluentd itself does not start with one. */
export function parseConf(text: string, file: string): ParsedConf {
  const placeAt = placesIn(text, file);
  const root: Open = { name: 'ROOT', arg: '', items: [], place: placeAt(0) };
  const state: ParseState = { scanner: new Scanner(text), open: [root], placeAt };
  const problem = mistakeIn(state);
  while (state.open.length > 1) close(state);
  return { root: rootElement(root.items, root.place), problems: problem ? [problem] : [] };
}

const REST = 'posidle reads no further in this file';

/** Reads all statements. */
function mistakeIn(state: ParseState): ConfProblem | undefined {
  const { scanner, open, placeAt } = state;
  let place = placeAt(0);
  try {
    for (scanner.take(SPACING); !scanner.done; scanner.take(SPACING)) {
      place = placeAt(scanner.position);
      statement(state, place);
    }
    const { name, place: begin } = open.at(-1) ?? open[0];
    return open.length === 1 ? undefined : { place: begin, text: `<${name}> has no end tag; ${REST}` };
  } catch (error) {
    if (!(error instanceof SyntaxProblem)) throw error;
    // Fluentd takes it for a part of the first name.
    const hasMark = scanner.text.startsWith('\ufeff');
    const text = hasMark ? 'the file begins with a byte order mark' : error.message;
    return { place, text: `${text}; ${REST}` };
  }
}

function statement(state: ParseState, place: Place): void {
  const { scanner } = state;
  if (scanner.take(/<\//y) !== undefined) endTag(state);
  else if (scanner.take(/</y) !== undefined) startTag(state, place);
  else line(state, place);
}

function startTag({ scanner, open }: ParseState, place: Place): void {
  const name = scanner.take(NAME);
  if (name === undefined) throw new SyntaxProblem('a tag has no name');
  if (open.length > MOST_DEEP) throw new SyntaxProblem('sections are nested too deeply');
  scanner.take(SPACING);
  const arg = stringLiteral(scanner, 'tag-end');
  closeTag(scanner);
  open.push({ name, arg, items: [], place });
}

function endTag(state: ParseState): void {
  const { scanner, open } = state;
  const name = scanner.take(NAME);
  closeTag(scanner);
  if (open.length === 1) throw new SyntaxProblem(`</${name}> has no start tag`);
  const { name: expected } = open.at(-1) ?? open[0];
  if (name !== expected) throw new SyntaxProblem(`</${name}> stands where <${expected}> must end`);
  close(state);
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

function line({ scanner, open }: ParseState, place: Place): void {
  const { items } = open.at(-1) ?? open[0];
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

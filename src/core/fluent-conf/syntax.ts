import { type ConfItem, type ConfValue, type ParsedConf, type Place, rootElement } from './element.ts';
import { LINE_END, literal, Scanner, SPACING, SyntaxProblem, stringLiteral } from './literal.ts';

interface ParseState {
  readonly scanner: Scanner;
  readonly placeAt: (position: number) => Place;
  /** Where the present statement begins. */
  place: Place;
}

/** A section that has begun. */
interface Open {
  readonly name: string;
  readonly place: Place;
  readonly depth: number;
}

const NAME = /[a-zA-Z0-9_]+/y;
/** At the top level. The path may follow after a comment, on a later line. */
const INCLUDE = /@?include(?=[ \t\r\n#])/y;
const MOST_DEEP = 50;
const REST = 'posidle reads no further in this file';

/** Parses the v1 syntax (`lib/fluent/config/v1_parser.rb`) up to the first mistake: Fluentd itself does not start with one. */
export function parseConf(text: string, file: string): ParsedConf {
  const placeAt = placesIn(text, file);
  const state: ParseState = { scanner: new Scanner(text), placeAt, place: placeAt(0) };
  const items: ConfItem[] = [];
  const root = rootElement(items, state.place);
  try {
    readInto(items, state);
    return { root, problems: [] };
  } catch (error) {
    if (!(error instanceof SyntaxProblem)) throw error;
    // Fluentd takes it for a part of the first name.
    const [place, why] = text.startsWith('\ufeff')
      ? [placesIn(text, file)(0), 'the file begins with a byte order mark']
      : [state.place, error.message];
    return { root, problems: [{ place, text: `${why}; ${REST}` }] };
  }
}

/** Adds the workers of a section, or of the whole file. */
function readInto(items: ConfItem[], state: ParseState, open?: Open): void {
  const { scanner } = state;
  for (scanner.take(SPACING); !scanner.done; scanner.take(SPACING)) {
    state.place = state.placeAt(scanner.position);
    if (scanner.take(/<\//y) !== undefined) {
      endTag(scanner, open);
      return;
    }
    if (scanner.take(/</y) !== undefined) readSection(items, state, (open?.depth ?? 0) + 1);
    else items.push(line(state, open === undefined));
  }
  if (open === undefined) return;
  state.place = open.place;
  throw new SyntaxProblem(`<${open.name}> has no end tag`);
}

function readSection(items: ConfItem[], state: ParseState, depth: number): void {
  const { scanner, place } = state;
  const name = scanner.take(NAME);
  if (name === undefined) throw new SyntaxProblem('a tag has no name');
  if (depth > MOST_DEEP) throw new SyntaxProblem('sections are nested too deeply');
  scanner.take(SPACING);
  const arg = stringLiteral(scanner, 'tag-end');
  closeTag(scanner);
  const inner: ConfItem[] = [];
  // Now, so that a mistake inside leaves what stands before it.
  items.push({ kind: 'section', name, arg, items: inner, place });
  readInto(inner, state, { name, place, depth });
}

function endTag(scanner: Scanner, open: Open | undefined): void {
  const name = scanner.take(NAME);
  closeTag(scanner);
  if (open === undefined) throw new SyntaxProblem(`</${name}> has no start tag`);
  if (name !== open.name) throw new SyntaxProblem(`</${name}> stands where <${open.name}> must end`);
}

function closeTag(scanner: Scanner): void {
  scanner.take(SPACING);
  if (scanner.take(/>/y) === undefined) throw new SyntaxProblem('a tag does not end with >');
  expectLineEnd(scanner, 'something follows a tag on its line');
}

function line({ scanner, place }: ParseState, isAtTop: boolean): ConfItem {
  if (isAtTop && scanner.take(INCLUDE) !== undefined) {
    scanner.take(SPACING);
    return included(scanner, place);
  }
  const name = stringLiteral(scanner, 'space');
  if (typeof name !== 'string') throw new SyntaxProblem('there is Ruby in the name of a parameter');
  const space = scanner.take(/[ \t\r\n]+/y) ?? '';
  if (space.includes('\n') || scanner.done) return { kind: 'param', name, value: '', place };
  if (name === '@include') return included(scanner, place);
  return { kind: 'param', name, value: wholeLine(scanner, space), place };
}

function included(scanner: Scanner, place: Place): ConfItem {
  const path = stringLiteral(scanner, 'line-end');
  scanner.take(LINE_END);
  return { kind: 'include', path, place };
}

function wholeLine(scanner: Scanner, space: string): ConfValue {
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

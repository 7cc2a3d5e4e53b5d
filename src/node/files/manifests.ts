import {
  DEFAULT_SCHEMA,
  dump,
  type EventType,
  FAILSAFE_SCHEMA,
  loadAll,
  type State,
  Type,
  YAMLException,
} from 'js-yaml';

export interface Manifest {
  readonly document: unknown;
  /** The first line and column are 1. */
  readonly line: number;
  readonly column: number;
  /** As it came, with its comments and quotes. */
  readonly source: string;
}

/** A value without quotes, written back unchanged: kubectl reads YAML 1.1, where 0644 is octal and `yes` is true. */
class Plain extends String {}

const PLAIN = { kind: 'scalar', instanceOf: Plain, represent: (value: object) => String(value) } as const;
const READ = FAILSAFE_SCHEMA.extend({
  implicit: [
    new Type('tag:yaml.org,2002:merge', { kind: 'scalar', resolve: (data) => data === '<<' }),
    new Type('!plain', {
      ...PLAIN,
      resolve: (data) => typeof data === 'string',
      construct: (data: string) => new Plain(data),
    }),
  ],
});
/** In YAML 1.1 2026_11_27 and 0X1F are numbers, and 2026-1-1 is a date. js-yaml would write them without their quotes. */
const LIKE_A_NUMBER = /^[-+.\d][-+.:\d\s_a-fxotz]*$/i;
const WRITE = DEFAULT_SCHEMA.extend({
  implicit: [new Type('!plain', { ...PLAIN, resolve: (data) => LIKE_A_NUMBER.test(data) })],
});

/** What ends a document, with its line if nothing else is on it. */
const MARKER = /^(?:---|\.\.\.)[ \t]*(?:\r?\n)?/m;

/** The documents of a file. Throws with line and column if it is not YAML. */
export function parseManifests(text: string): readonly Manifest[] {
  const input = text.replace(/^\uFEFF/, '').replace(/[^\n]$/, '$&\n');
  const places: (Pick<Manifest, 'line' | 'column'> & { readonly begin: number })[] = [];
  const ends: number[] = [];
  const documents: unknown[] = [];
  let depth = 0;
  const listener = (event: EventType, { line, position, lineStart }: State) => {
    if (event === 'open' && depth === 0)
      places.push({ line: line + 1, column: position - lineStart + 1, begin: position });
    depth += event === 'open' ? 1 : -1;
    // The document itself closes last.
    ends[places.length - 1] = position;
  };
  try {
    // js-yaml parses all documents before it calls back.
    loadAll(input, (document) => documents.push(document), { schema: READ, listener, json: true });
  } catch (error) {
    if (!(error instanceof YAMLException)) throw error;
    const { reason, mark } = error;
    throw new Error(`${mark.line + 1}:${mark.column + 1}: ${reason}`);
  }
  return places
    .map(({ begin, ...place }, index) => {
      const [head = ''] = input
        .slice(ends[index - 1] ?? 0, begin)
        .split(MARKER)
        .slice(-1);
      const [tail = ''] = input.slice(ends[index]).split(MARKER, 1);
      return { document: documents[index], ...place, source: head + input.slice(begin, ends[index]) + tail };
    })
    .filter(({ document }) => document !== null && document !== undefined);
}

export function writeManifest(document: unknown): string {
  return dump(document, { schema: WRITE, lineWidth: -1, noRefs: true });
}

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

/** The documents of a file. Throws with line and column if it is not YAML. */
export function parseManifests(text: string): readonly Manifest[] {
  const places: Omit<Manifest, 'document'>[] = [];
  const documents: unknown[] = [];
  let depth = 0;
  const listener = (event: EventType, { line, position, lineStart }: State) => {
    if (event === 'open' && depth === 0) places.push({ line: line + 1, column: position - lineStart + 1 });
    depth += event === 'open' ? 1 : -1;
  };
  try {
    // js-yaml parses all documents before it calls back.
    loadAll(text, (document) => documents.push(document), {
      schema: READ,
      listener,
    });
  } catch (error) {
    if (!(error instanceof YAMLException)) throw error;
    const { reason, mark } = error;
    throw new Error(`${mark.line + 1}:${mark.column + 1}: ${reason}`);
  }
  return places
    .map((place, index) => ({ document: documents[index], ...place }))
    .filter(({ document }) => document !== null && document !== undefined);
}

export function writeManifests(documents: readonly unknown[]): string {
  const options = { schema: WRITE, lineWidth: -1, noRefs: true };
  return documents.map((document) => dump(document, options)).join('---\n');
}

import {
  constructFromEvents,
  DEFAULT_SCALAR_STYLE_RULES,
  DUMP_SCHEMA,
  defineScalarTag,
  dump,
  EVENT_ID,
  type Event,
  FAILSAFE_SCHEMA,
  legacyMapTag,
  mergeTag,
  NOT_RESOLVED,
  parseEvents,
  SCALAR_STYLE,
  visit,
  YAMLException,
} from 'js-yaml';

export interface Manifest {
  readonly document: unknown;
  /** As it came, with its comments and quotes. */
  readonly source: string;
}

/** A value without quotes, written back unchanged: kubectl reads YAML 1.1, where 0644 is octal and `yes` is true. */
class Plain extends String {}

const PLAIN = { implicit: true, identify: (data: unknown) => data instanceof Plain };
const READ = FAILSAFE_SCHEMA.withTags(
  // A key may be Plain, too.
  legacyMapTag,
  mergeTag,
  defineScalarTag('!plain', { ...PLAIN, resolve: (text) => (text === '' ? null : new Plain(text)) }),
);
/** In YAML 1.1 2026_11_27 and 0X1F are numbers, and 2026-1-1 is a date: such a text needs its quotes. */
const LIKE_A_NUMBER = /^[-+.\d][-+.:\d\s_a-fxotz]*$/i;
const WRITE = DUMP_SCHEMA.withTags(
  defineScalarTag('!plain', {
    ...PLAIN,
    // Who fills in ${COUNT} later may make a number of it.
    resolve: (text) => (LIKE_A_NUMBER.test(text) || text.includes('${') ? text : NOT_RESOLVED),
  }),
);

/** What begins or ends a document, with its line if nothing else is on it. */
const MARKER = /^(?:---|\.\.\.)(?=\s|$)[ \t]*(?:\r?\n)?/m;

/** The documents of a file. Throws with line and column if it is not YAML. */
export function parseManifests(text: string): readonly Manifest[] {
  const input = text.replace(/^\uFEFF/, '').replace(/[^\n]$/, '$&\n');
  const events = readEvents(() => parseEvents(input, {}));
  // Of two values for one key the last one counts, as for kubectl.
  const documents = readEvents(() =>
    constructFromEvents(events, { source: input, schema: READ, json: true }),
  );
  const begins = events.flatMap(({ type }, index) =>
    type === EVENT_ID.DOCUMENT ? [startOf(events[index + 1])] : [],
  );
  let end = 0;
  const found: Manifest[] = [];
  for (const [index, begin] of begins.entries()) {
    const document = documents[index];
    if (document === null) continue;
    const [head = ''] = input.slice(end, begin).split(MARKER).slice(-1);
    const [body = ''] = input.slice(begin).split(MARKER, 1);
    end = begin + body.length;
    found.push({ document, source: head + body });
  }
  return found;
}

function startOf(event: Event | undefined): number {
  if (event === undefined) return -1;
  return 'start' in event ? event.start : 'valueStart' in event ? event.valueStart : -1;
}

function readEvents<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof YAMLException) || error.mark === undefined) throw error;
    const { reason, mark } = error;
    throw new Error(`line ${mark.line + 1}, column ${mark.column + 1}: ${reason}`);
  }
}

export function writeManifest(document: unknown): string {
  return dump(document, {
    ...{ schema: WRITE, lineWidth: -1, noRefs: true },
    scalarStyleRules: [
      ...Object.values(DEFAULT_SCALAR_STYLE_RULES),
      (layout) => {
        if (layout.node.tag === '!plain') layout.style = SCALAR_STYLE.PLAIN;
      },
    ],
    transform: (documents) =>
      visit(documents, (node) => {
        if (node.kind === 'scalar' && node.tag === '!plain') node.tagged = false;
      }),
  });
}

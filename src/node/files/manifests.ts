import {
  DEFAULT_SCALAR_STYLE_RULES,
  DUMP_SCHEMA,
  defineScalarTag,
  dump,
  FAILSAFE_SCHEMA,
  legacyMapTag,
  loadAll,
  mergeTag,
  NOT_RESOLVED,
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

/** What begins or ends a document (document markers in YAML 1.2, 9.1.2), with the white space behind it. No text can hold it. */
const MARKER = /^(?:---|\.\.\.)(?=\s|$)[ \t]*(?:\r?\n)?/;
const EACH_DOCUMENT = /^(?=(?:---|\.\.\.)(?:\s|$))/m;
/** A line without content: a marker, a comment, or a directive such as `%YAML 1.1`, which stands before a document's marker. */
const BARE = /^(?:\.\.\.|---)?\s*$|^\s*#|^%/;

/** The documents of a file. Throws with line and column if it is not YAML. */
export function parseManifests(text: string): readonly Manifest[] {
  const input = text.replace(/^\uFEFF/, '').replace(/[^\n]$/, '$&\n');
  const found: Manifest[] = [];
  let line = 1;
  for (const part of input.split(EACH_DOCUMENT)) {
    const document = documentIn(part, line);
    if (document !== undefined && document !== null)
      found.push({ document, source: part.replace(MARKER, '') });
    line += part.split('\n').length - 1;
  }
  return found;
}

/** undefined if there is no content. `line`: of the part in its file. */
function documentIn(part: string, line: number): unknown {
  if (part.split('\n').every((one) => BARE.test(one))) return undefined;
  try {
    // Of two values for one key the last one counts, as for kubectl.
    const [document] = loadAll(part.replace(/^\.\.\./, '---'), { schema: READ, json: true });
    return document;
  } catch (error) {
    if (!(error instanceof YAMLException) || error.mark === undefined) throw error;
    const { reason, mark } = error;
    throw new Error(`line ${line + mark.line}, column ${mark.column + 1}: ${reason}`);
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

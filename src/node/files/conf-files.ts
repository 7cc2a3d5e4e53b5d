import type { Dirent } from 'node:fs';
import { lstat, stat } from 'node:fs/promises';
import { basename, dirname, extname, resolve } from 'node:path';
import { CORE_SCHEMA, load, Type } from 'js-yaml';
import {
  type ConfInclude,
  type ConfItem,
  type ConfProblem,
  type ParsedConf,
  type Place,
  rootElement,
  writtenText,
} from '../../core/fluent-conf/element.ts';
import { configIncludeDir, type FluentConf, fluentConf } from '../../core/fluent-conf/fluent-conf.ts';
import { evaluate, joinPath, type RubyContext } from '../../core/fluent-conf/ruby.ts';
import { parseConf } from '../../core/fluent-conf/syntax.ts';
import { confFromYaml, confFromYamlList, Tagged } from '../../core/fluent-conf/yaml.ts';
import { decodePath } from '../../core/pos-file/path-bytes.ts';
import type { FluentdArguments } from '../processes/command-line.ts';
import { readBounded } from './bounded.ts';
import { type PlaceOf, toBytes } from './files.ts';
import { inWords } from './in-words.ts';
import { nameBudget, readNames } from './names.ts';
import { rubyGlob } from './walk.ts';

export interface ConfOptions {
  readonly ruby: RubyContext;
  /** Fluentd 1.19 and later also load the files below this directory, or below config_include_dir or FLUENT_CONF_INCLUDE_DIR. */
  readonly includeDir?: string | undefined;
  /** Where posidle finds a file of the configuration. By default at its path. */
  readonly placeOf?: PlaceOf | undefined;
  /** Configuration on Fluentd's command line. */
  readonly given?: Partial<FluentdArguments> | undefined;
}

export async function loadFluentConf(path: string, options: ConfOptions): Promise<FluentConf> {
  const { root, problems } = await readConfTree(path, options);
  const conf = fluentConf(root, options.ruby, options.given?.workers);
  return { ...conf, problems: [...problems, ...conf.problems] };
}

/** The tree of a configuration file, with its includes in place. */
export async function readConfTree(path: string, options: ConfOptions): Promise<ParsedConf> {
  const { ruby, placeOf = (name) => name, given = {} } = options;
  const spent = { steps: 0, bytes: 0 };
  const kept = { problems: [], within: [], read: new Set<string>(), yaml: { directory: '' } };
  const reading: Reading = { ruby, placeOf, spent, ...kept };
  const inYaml = isYaml(path) || /^ya?ml$/.test(given.configFileType ?? '');
  const items = await itemsOf(path, reading, inYaml ? confFromYaml : undefined);
  if (!inYaml) items.push(...(await inlineItems(path, given, reading)));
  const further = await includeDirItems(items, options, reading);
  return { root: rootElement([...items, ...further], { file: path, line: 1 }), problems: reading.problems };
}

interface Reading {
  readonly ruby: RubyContext;
  readonly placeOf: PlaceOf;
  readonly problems: ConfProblem[];
  /** The chain of includes that leads to this file, outermost first. */
  readonly within: readonly string[];
  /** Every file so far. */
  readonly read: Set<string>;
  /** The number of files and includes so far. Ten files that include one another give ten million. */
  readonly spent: { steps: number; bytes: number };
  /**
   * Of the YAML file that was opened last: Fluentd resolves `!include` against it, also in the files around that one,
   * for Psych has one `domain_types` for all loaders (`lib/fluent/config/yaml_parser/loader.rb`).
   */
  readonly yaml: { directory: string };
}

type FromYaml = (document: unknown, file: string) => ParsedConf;

const MAX_DEPTH = 32;
const MOST_STEPS = 2_000;
const MOST_BYTES = 8 * 1024 ** 2;

async function itemsOf(path: string, reading: Reading, fromYaml: FromYaml | undefined): Promise<ConfItem[]> {
  if (!mayGoOn(reading, { file: path })) return [];
  const inner = { ...reading, within: [...reading.within, resolve(path)] };
  reading.read.add(resolve(path));
  if (fromYaml !== undefined) reading.yaml.directory = dirname(path);
  try {
    const text = decodePath(await readConf(path, reading));
    const { root, problems } =
      fromYaml === undefined ? parseConf(text, path) : loadYaml(text, path, fromYaml);
    reading.problems.push(...problems);
    return await included(root.items, inner);
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    // js-yaml appends an excerpt of the file.
    const [why] = error.message.split('\n', 1);
    reading.problems.push({ place: { file: path }, text: `it cannot be read (${why})` });
    return [];
  }
}

/** Counts a file or an include, and reports once that there are too many. */
function mayGoOn({ spent, problems }: Reading, place: Place): boolean {
  spent.steps += 1;
  if (spent.steps === MOST_STEPS)
    problems.push({ place, text: `more than ${MOST_STEPS} files are included: posidle reads no further` });
  return spent.steps < MOST_STEPS;
}

async function readConf(path: string, { spent, placeOf }: Reading): Promise<Uint8Array> {
  const found = await readBounded(placeOf(path), MOST_BYTES - spent.bytes);
  if (found === undefined) throw new Error('there is no such file');
  spent.bytes += found.bytes.length;
  return found.bytes;
}

/** Fluentd appends the text to the file's (`build` in `lib/fluent/config.rb`). */
async function inlineItems(path: string, given: Partial<FluentdArguments>, reading: Reading) {
  const { inlineConfig } = given;
  if (inlineConfig === undefined) return [];
  const place = { file: `${path} (--inline-config)` };
  if (inlineConfig === '-') {
    reading.problems.push({ place, text: 'Fluentd reads it from its stdin' });
    return [];
  }
  const { root, problems } = parseConf(inlineConfig.replaceAll('\\n', '\n'), place.file);
  reading.problems.push(...problems);
  return included(root.items, reading);
}

async function included(items: readonly ConfItem[], reading: Reading): Promise<ConfItem[]> {
  const found: ConfItem[] = [];
  for (const item of items) {
    if (item.kind === 'include') found.push(...(await includedItems(item, reading)));
    else if (item.kind === 'section') found.push({ ...item, items: await included(item.items, reading) });
    else found.push(item);
  }
  return found;
}

async function includedItems(include: ConfInclude, reading: Reading): Promise<ConfItem[]> {
  if (!mayGoOn(reading, include.place)) return [];
  const inYaml = isYaml(include.place.file);
  const pattern = includePattern(include, reading, inYaml);
  if (pattern === undefined) return [];
  const directory = inYaml ? reading.yaml.directory : dirname(include.place.file);
  const found: ConfItem[] = [];
  for (const path of await filesOf(include, resolve(directory, pattern), reading)) {
    if (reading.within.includes(path) || reading.within.length > MAX_DEPTH) {
      addProblem(include, 'includes itself', reading);
    } else found.push(...(await itemsOf(path, reading, inYaml ? confFromYamlList : undefined)));
  }
  return found;
}

async function filesOf(include: ConfInclude, pattern: string, reading: Reading): Promise<readonly string[]> {
  try {
    return (await rubyGlob(pattern, { placeOf: reading.placeOf })).sort();
  } catch (error) {
    addProblem(include, `cannot be listed (${inWords(error as NodeJS.ErrnoException)})`, reading);
    return [];
  }
}

/** The path as the file has it. The value of its Ruby may be a secret. */
function addProblem({ path, place }: ConfInclude, text: string, { problems }: Reading): void {
  problems.push({ place, text: `@include ${writtenText(path)} ${text}`, parameter: '@include' });
}

/** `eval_include` in `lib/fluent/config/v1_parser.rb` parses the pattern as a URI. */
function includePattern(include: ConfInclude, reading: Reading, inYaml: boolean): string | undefined {
  const path = evaluate(include.path, reading.ruby);
  if (path === null) return undefined;
  if (typeof path !== 'string') {
    addProblem(include, `cannot be evaluated by posidle (${path.reason}): write the path out`, reading);
    return undefined;
  }
  if (inYaml) return path;
  if (!/^[a-z][a-z0-9+.-]+:/i.test(path)) return path;
  addProblem(include, 'is a URL, which posidle does not fetch', reading);
  return undefined;
}

/** `build_additional_configurations` in `lib/fluent/supervisor.rb`. */
async function includeDirItems(items: readonly ConfItem[], options: ConfOptions, reading: Reading) {
  if (options.includeDir === undefined) return [];
  const directory = configIncludeDir(items, options.ruby) ?? options.includeDir;
  if (directory === '') return [];
  const isRead = new Set(reading.read);
  const found: ConfItem[] = [];
  try {
    for await (const path of filesBelow(directory, await kindOf(directory, reading), reading)) {
      if (!isRead.has(path))
        found.push(...(await itemsOf(path, reading, isYaml(path) ? confFromYaml : undefined)));
    }
  } catch (error) {
    const why = error as NodeJS.ErrnoException;
    const text = `the configuration files below ${directory} cannot be listed (${inWords(why)})`;
    if (why.code !== 'ENOENT' && why.code !== 'ENOTDIR')
      reading.problems.push({ place: { file: directory }, text, parameter: 'config_include_dir' });
  }
  // Fluentd has its system settings by then: a <system> from there has no effect (configure in supervisor.rb).
  return found.filter((item) => !('name' in item && item.name === 'system'));
}

type Kind = Pick<Dirent, 'isDirectory' | 'isSymbolicLink'>;

/** A link is one also where `placeOf` resolves it. */
function kindOf(path: string, { placeOf }: Reading): Promise<Kind> {
  const place = path.endsWith('/') ? placeOf(path) : joinPath([placeOf(dirname(path)), basename(path)]);
  return lstat(toBytes(place));
}

/** The files with a suffix of a configuration, as Ruby's Find.find gives them: also hidden ones, but none behind a link to a directory. */
async function* filesBelow(path: string, kind: Kind, reading: Reading): AsyncGenerator<string> {
  const { placeOf } = reading;
  if (kind.isDirectory()) {
    if (!mayGoOn(reading, { file: path })) return;
    const entries: [string, Dirent][] = [];
    await readNames(placeOf(path), nameBudget(), (name, entry) => entries.push([name, entry]) > 0);
    entries.sort(([one], [other]) => (one < other ? -1 : 1));
    for (const [name, entry] of entries) yield* filesBelow(joinPath([path, name]), entry, reading);
  } else if (/^\.(?:conf|ya?ml)$/.test(extname(path))) {
    const isToDirectory = kind.isSymbolicLink() && (await stat(toBytes(placeOf(path)))).isDirectory();
    if (!isToDirectory) yield path;
  }
}

function isYaml(path: string): boolean {
  return ['.yaml', '.yml'].includes(extname(path));
}

function loadYaml(text: string, file: string, fromYaml: FromYaml): ParsedConf {
  const document = load(text, { filename: file, schema: SCHEMA, json: true });
  refuseEndless(document);
  return fromYaml(document, file);
}

const MOST_VALUES = 100_000;
/** Deeper than any configuration. An anchor that contains itself is infinitely deep. */
const YAML_DEPTH = 200;

/** Each alias repeats its whole anchor: thirty lines of ten aliases each make 10^30 values. */
function refuseEndless(document: unknown): void {
  let left = MOST_VALUES;
  const count = (value: unknown, depth: number): void => {
    left -= 1;
    if (left < 0) throw new Error(`its aliases stand for more than ${MOST_VALUES} values`);
    if (typeof value !== 'object' || value === null || depth > YAML_DEPTH) return;
    for (const inner of Object.values(value)) count(inner, depth + 1);
  };
  count(document, 0);
}

/** Psych reads YAML 1.1 (`lib/psych/scalar_scanner.rb`), and js-yaml 1.2. */
const BOOLEAN = new Type('tag:yaml.org,2002:bool', {
  kind: 'scalar',
  resolve: (text: string | null) => /^(?:yes|no|true|false|on|off)$/i.test(text ?? ''),
  construct: (text: string) => /^(?:yes|true|on)$/i.test(text),
});

const MERGE = new Type('tag:yaml.org,2002:merge', {
  kind: 'scalar',
  resolve: (text: string | null) => text === '<<',
});

const tagged = (tag: Tagged['tag'], kind: 'scalar' | 'sequence' | 'mapping' = 'scalar') =>
  new Type(tag, { kind, construct: (value: unknown) => new Tagged(tag, value) });

const SCHEMA = CORE_SCHEMA.extend({
  implicit: [BOOLEAN, MERGE],
  explicit: [
    tagged('!fluent/s'),
    tagged('!include'),
    tagged('!fluent/json'),
    tagged('!fluent/json', 'sequence'),
    tagged('!fluent/json', 'mapping'),
  ],
});

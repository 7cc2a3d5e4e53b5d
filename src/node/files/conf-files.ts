import type { Dirent } from 'node:fs';
import { lstat, stat } from 'node:fs/promises';
import { basename, dirname, extname, resolve } from 'node:path';
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
  return fluentConf(await readConfTree(path, options), options.ruby, options.given?.workers);
}

/** The tree of a configuration file, with its includes in place. */
export async function readConfTree(path: string, options: ConfOptions): Promise<ParsedConf> {
  const { ruby, placeOf = (name) => name, given = {} } = options;
  const spent = { files: 0, bytes: 0 };
  const reading: Reading = { ruby, placeOf, spent, problems: [], within: [], read: new Set() };
  const isYaml = hasYamlName(path) || /^ya?ml$/.test(given.configFileType ?? '');
  const items = await itemsOf(path, reading, isYaml);
  if (given.inlineConfig !== undefined)
    reading.problems.push({
      place: { file: '--inline-config' },
      text: `posidle does not read it; ${NAME_THEM}`,
    });
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
  /** Files and includes so far. Ten files that include one another give ten million. */
  readonly spent: { files: number; bytes: number };
}

const NAME_THEM = 'name its pos files with --pos-file';
const MAX_DEPTH = 32;
const MOST_FILES = 2_000;
const MOST_BYTES = 8 * 1024 ** 2;

async function itemsOf(path: string, reading: Reading, isYaml = false): Promise<ConfItem[]> {
  if (!mayGoOn(reading, { file: path })) return [];
  reading.read.add(resolve(path));
  if (isYaml) {
    reading.problems.push({ place: { file: path }, text: `posidle reads no YAML; ${NAME_THEM}` });
    return [];
  }
  try {
    const { root, problems } = parseConf(decodePath(await readConf(path, reading)), path);
    reading.problems.push(...problems);
    return await included(root.items, { ...reading, within: [...reading.within, resolve(path)] });
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    reading.problems.push({ place: { file: path }, text: `it cannot be read (${error.message})` });
    return [];
  }
}

function hasYamlName(path: string): boolean {
  return ['.yaml', '.yml'].includes(extname(path));
}

/** Counts a file or an include, and reports once that there are too many. */
function mayGoOn({ spent, problems }: Reading, place: Place): boolean {
  spent.files += 1;
  if (spent.files === MOST_FILES)
    problems.push({ place, text: `more than ${MOST_FILES} files are included: posidle reads no further` });
  return spent.files < MOST_FILES;
}

async function readConf(path: string, { spent, placeOf }: Reading): Promise<Uint8Array> {
  const found = await readBounded(placeOf(path), MOST_BYTES - spent.bytes);
  if (found === undefined) throw new Error('there is no such file');
  spent.bytes += found.bytes.length;
  return found.bytes;
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
  const { path, place } = include;
  const problem = (text: string) =>
    // As the file has it: the value of its Ruby may be a secret.
    void reading.problems.push({
      place,
      text: `@include ${writtenText(path)} ${text}`,
      parameter: '@include',
    });
  const pattern = evaluate(path, reading.ruby);
  if (pattern === null || !mayGoOn(reading, place)) return [];
  const found: ConfItem[] = [];
  if (typeof pattern !== 'string') problem(`cannot be evaluated (${pattern.reason}); write the path out`);
  // `eval_include` in `lib/fluent/config/v1_parser.rb` parses the pattern as a URI.
  else if (/^[a-z][a-z0-9+.-]+:/i.test(pattern)) problem('is a URL, which posidle does not fetch');
  else
    for (const file of await filesOf(resolve(dirname(place.file), pattern), reading, problem)) {
      if (reading.within.includes(file) || reading.within.length > MAX_DEPTH) problem('includes itself');
      else found.push(...(await itemsOf(file, reading)));
    }
  return found;
}

async function filesOf(pattern: string, { placeOf }: Reading, problem: (text: string) => void) {
  try {
    return (await rubyGlob(pattern, { placeOf })).sort();
  } catch (error) {
    problem(`cannot be listed (${inWords(error as NodeJS.ErrnoException)})`);
    return [];
  }
}

/** `build_additional_configurations` in `lib/fluent/supervisor.rb`. */
async function includeDirItems(items: readonly ConfItem[], options: ConfOptions, reading: Reading) {
  if (options.includeDir === undefined) return [];
  const directory = configIncludeDir(items, options.ruby) ?? options.includeDir;
  if (directory === '') return [];
  const isRead = new Set(reading.read);
  const found: ConfItem[] = [];
  try {
    for await (const path of filesBelow(directory, await kindOf(directory, reading), reading))
      if (!isRead.has(path)) found.push(...(await itemsOf(path, reading, hasYamlName(path))));
  } catch (error) {
    const why = error as NodeJS.ErrnoException;
    const text = `the configuration files below it cannot be listed (${inWords(why)})`;
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
  } else if (extname(path) === '.conf' || hasYamlName(path)) {
    const isToDirectory = kind.isSymbolicLink() && (await stat(toBytes(placeOf(path)))).isDirectory();
    if (!isToDirectory) yield path;
  }
}

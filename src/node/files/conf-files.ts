import { dirname, extname, resolve } from 'node:path';
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
import type { PlaceOf } from './files.ts';
import { inWords } from './in-words.ts';
import { rubyGlob } from './walk.ts';

export interface ConfOptions {
  readonly ruby: RubyContext;
  /** Fluentd 1.19 and later also load the files below this directory, or below config_include_dir or FLUENT_CONF_INCLUDE_DIR. */
  readonly includeDir?: string | undefined;
  /** Where posidle finds a file of the configuration. By default at its path. */
  readonly placeOf?: PlaceOf | undefined;
  /** Configuration on Fluentd's command line. */
  readonly given?: FluentdArguments | undefined;
}

export async function loadFluentConf(path: string, options: ConfOptions): Promise<FluentConf> {
  return fluentConf(await readConfTree(path, options), options.ruby, options.given?.workers);
}

/** The tree of a configuration file, with its includes in place. */
export async function readConfTree(path: string, options: ConfOptions): Promise<ParsedConf> {
  const { ruby, includeDir, placeOf = (name) => name, given = {} } = options;
  const files: string[] = [];
  const reading: Reading = { ruby, placeOf, files, spent: { files: 0, bytes: 0 }, problems: [], within: [] };
  const isYaml = hasYamlName(path) || /^ya?ml$/.test(given['config-file-type'] ?? '');
  const items = await itemsOf(path, reading, isYaml);
  if (given['inline-config'] !== undefined)
    reading.problems.push({ place: { file: '--inline-config' }, text: 'posidle does not read it' });
  const further = includeDir === undefined ? [] : await itemsBelow(includeDir, items, reading);
  return { root: rootElement([...items, ...further], { file: path, line: 1 }), problems: reading.problems };
}

interface Reading {
  readonly ruby: RubyContext;
  readonly placeOf: PlaceOf;
  readonly problems: ConfProblem[];
  /** Every file so far. */
  readonly files: string[];
  /** The chain of includes that leads to this file, outermost first. */
  readonly within: readonly string[];
  /** Files and includes so far. Ten files that include one another give ten million. */
  readonly spent: { files: number; bytes: number };
}

const MOST_FILES = 2_000;
const MOST_BYTES = 8 * 1024 ** 2;

async function itemsOf(path: string, reading: Reading, isYaml = false): Promise<ConfItem[]> {
  const { problems, placeOf, spent } = reading;
  const place = { file: path };
  if (!mayGoOn(reading, place)) return [];
  reading.files.push(resolve(path));
  if (isYaml) problems.push({ place, text: 'posidle reads no YAML' });
  if (isYaml) return [];
  try {
    const { bytes } = (await readBounded(placeOf(path), MOST_BYTES - spent.bytes)) ?? {};
    if (bytes === undefined) throw new Error('no such file or directory');
    spent.bytes += bytes.length;
    const parsed = parseConf(decodePath(bytes), path);
    problems.push(...parsed.problems);
    return await included(parsed.root.items, { ...reading, within: [...reading.within, resolve(path)] });
  } catch (error) {
    problems.push({ place, text: `it cannot be read (${(error as Error).message})` });
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

async function included(items: readonly ConfItem[], reading: Reading): Promise<ConfItem[]> {
  const found: ConfItem[] = [];
  for (const item of items) {
    if (item.kind === 'include') found.push(...(await includedItems(item, reading)));
    else if (item.kind === 'section') found.push({ ...item, items: await included(item.items, reading) });
    else found.push(item);
  }
  return found;
}

async function includedItems({ path, place }: ConfInclude, reading: Reading): Promise<ConfItem[]> {
  const problem = (text: string) =>
    // As the file has it: the value of its Ruby may be a secret.
    reading.problems.push({ place, text: `@include ${writtenText(path)} ${text}`, parameter: '@include' });
  const pattern = evaluate(path, reading.ruby);
  if (pattern === null || !mayGoOn(reading, place)) return [];
  const found: ConfItem[] = [];
  if (typeof pattern !== 'string') problem(`cannot be evaluated (${pattern.reason}); write the path out`);
  // `eval_include` in `lib/fluent/config/v1_parser.rb` parses the pattern as a URI.
  else if (/^[a-z][a-z0-9+.-]+:/i.test(pattern)) problem('is a URL, which posidle does not fetch');
  else
    for (const file of await filesOf(resolve(dirname(place.file), pattern), reading, problem)) {
      if (reading.within.includes(file)) problem('includes itself');
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

/** `build_additional_configurations` in `lib/fluent/supervisor.rb`, without hidden files. */
async function itemsBelow(usual: string, items: readonly ConfItem[], reading: Reading): Promise<ConfItem[]> {
  const directory = configIncludeDir(items, reading.ruby) ?? usual;
  if (directory === '') return [];
  const known = new Set(reading.files);
  const problem = (text: string) =>
    reading.problems.push({ place: { file: directory }, text, parameter: 'config_include_dir' });
  const found: ConfItem[] = [];
  for (const file of await filesOf(joinPath([directory, '**/*.{conf,yaml,yml}']), reading, problem))
    if (!known.has(file)) found.push(...(await itemsOf(file, reading, hasYamlName(file))));
  // Fluentd has its system settings by then: a <system> from there has no effect (configure in supervisor.rb).
  return found.filter((item) => !('name' in item && item.name === 'system'));
}

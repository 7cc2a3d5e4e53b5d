import {
  type ConfItem,
  type ConfProblem,
  type ConfValue,
  type ParsedConf,
  type Place,
  rootElement,
} from './element.ts';
import { interpolated, SyntaxProblem } from './literal.ts';
import { RubyFloat } from './yaml-scalar.ts';

/** What YAML's `!fluent/s` holds: a string whose embedded Ruby is evaluated. */
export class FluentString {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** What YAML's `!fluent/json` holds. */
export class FluentJson {
  readonly value: unknown;

  constructor(value: unknown) {
    this.value = value;
  }
}

/** What YAML's `!include` holds: a glob of further files, each of them a list of sections. */
export class YamlInclude {
  readonly pattern: string;

  constructor(pattern: string) {
    this.pattern = pattern;
  }
}

interface Reading {
  readonly place: Place;
  readonly problems: ConfProblem[];
  /** Fluentd takes `$type` and the like out of the mapping itself: where an alias repeats it, they are gone. */
  readonly spent: WeakSet<object>;
}

type Fields = Readonly<Record<string, unknown>>;

const SECTIONS = ['label', 'source', 'filter', 'match', 'worker'];
const RESERVED = new Set(['$type', '$label', '$id', '$log_level']);
const TAKEN = new Set([...RESERVED, '$arg']);
const MAX_DEPTH = 50;
const NIL: ConfValue = { parts: [{ ruby: 'use_nil' }] };

/** A loaded YAML configuration as the same tree that the v1 syntax gives (`lib/fluent/config/yaml_parser/parser.rb`). */
export function confFromYaml(document: unknown, file: string): ParsedConf {
  const reading: Reading = { place: { file }, problems: [], spent: new WeakSet() };
  const fields = fieldsOf(document, 'the document', reading);
  const system = fields.system === undefined ? [] : [section('system', fields.system, reading)];
  const root = rootElement([...system, ...listItems(fields.config ?? [], reading, 0)], reading.place);
  return { root, problems: reading.problems };
}

/** A file that `!include` names: a list of sections, or further includes. */
export function confFromYamlList(list: unknown, file: string): ParsedConf {
  const reading: Reading = { place: { file }, problems: [], spent: new WeakSet() };
  return { root: rootElement(listItems(list, reading, 0), reading.place), problems: reading.problems };
}

function listItems(list: unknown, reading: Reading, depth: number): ConfItem[] {
  if (list instanceof YamlInclude) return [{ kind: 'include', path: list.pattern, place: reading.place }];
  if (!Array.isArray(list) || depth > MAX_DEPTH) {
    addProblem(reading, 'config is not a list of sections');
    return [];
  }
  return list.flatMap((entry: unknown) => {
    if (Array.isArray(entry) || entry instanceof YamlInclude) return listItems(entry, reading, depth + 1);
    return entryItems(fieldsOf(entry, 'an entry of config', reading), reading, depth + 1);
  });
}

function entryItems(entry: Fields, reading: Reading, depth: number): ConfItem[] {
  for (const name of Object.keys(entry)) {
    if (!SECTIONS.includes(name)) addProblem(reading, `config has no section ${name}`);
  }
  return SECTIONS.filter((name) => entry[name] !== undefined).map((name) => {
    if (name === 'source') return section(name, entry[name], reading, depth);
    const fields = { ...fieldsOf(entry[name], name, reading) };
    return name === 'label' || name === 'worker'
      ? nested(name, fields, reading, depth)
      : section(name, fields, reading, depth);
  });
}

function nested(name: string, fields: Fields, reading: Reading, depth: number): ConfItem {
  const arg = argOf(name === 'label' ? fields.$name : fields.$arg, reading);
  return {
    kind: 'section',
    name,
    arg,
    items: listItems(fields.config ?? [], reading, depth),
    place: reading.place,
  };
}

function section(name: string, value: unknown, reading: Reading, depth = 0): ConfItem {
  const { $tag, $arg, ...fields } = unspent(fieldsOf(value, name, reading), value, reading);
  const arg = argOf($tag ?? $arg, reading);
  if (depth > MAX_DEPTH) addProblem(reading, `${name} is nested too deeply`);
  const items =
    depth > MAX_DEPTH ? [] : Object.entries(fields).flatMap((field) => fieldItems(field, reading, depth + 1));
  return { kind: 'section', name, arg, items, place: reading.place };
}

function unspent(fields: Fields, value: unknown, { spent }: Reading): Fields {
  if (typeof value !== 'object' || value === null) return fields;
  const isSpent = spent.has(value);
  spent.add(value);
  return isSpent ? Object.fromEntries(Object.entries(fields).filter(([key]) => !TAKEN.has(key))) : fields;
}

function fieldItems([key, value]: [string, unknown], reading: Reading, depth: number): ConfItem[] {
  if (isListOfSections(value)) return value.map((one) => section(key, one, reading, depth));
  if (isFields(value)) return [section(key, value, reading, depth)];
  const text = value === null ? NIL : scalar(value, reading);
  if (text === undefined) return [];
  const name = RESERVED.has(key) ? key.replace('$', '@') : key;
  return [{ kind: 'param', name, value: text, place: reading.place }];
}

/** Fluentd decides by the first (`section?` in `lib/fluent/config/yaml_parser/parser.rb`), and up to 1.19 took every list for sections. */
function isListOfSections(value: unknown): value is unknown[] {
  return Array.isArray(value) && (value.length === 0 || isFields(value[0]));
}

function argOf(value: unknown, reading: Reading): ConfValue {
  if (Array.isArray(value)) return value.map(String).join(',');
  return scalar(value, reading) ?? '';
}

function scalar(value: unknown, reading: Reading): ConfValue | undefined {
  if (value === null || value === undefined) return undefined;
  if (Array.isArray(value)) return JSON.stringify(value);
  if (value instanceof FluentJson) return JSON.stringify(value.value) ?? '';
  if (value instanceof FluentString) return interpolatedOrProblem(value.text, reading);
  if (value instanceof YamlInclude)
    addProblem(reading, `!include ${value.pattern} stands where no list is read`);
  return value instanceof YamlInclude ? undefined : String(value);
}

function interpolatedOrProblem(text: string, reading: Reading): ConfValue | undefined {
  try {
    const value = interpolated(text);
    return typeof value === 'string' ? value : { ...value, yaml: true };
  } catch (error) {
    if (!(error instanceof SyntaxProblem)) throw error;
    addProblem(reading, `${error.message} in !fluent/s ${JSON.stringify(text)}`);
    return undefined;
  }
}

function fieldsOf(value: unknown, what: string, reading: Reading): Fields {
  if (isFields(value)) return merged(value);
  addProblem(reading, `${what} is not a mapping`);
  return {};
}

/** To Psych `<<` wins over what stands before it (`revive_hash` in `lib/psych/visitors/to_ruby.rb`). */
function merged(fields: Fields, depth = 0): Fields {
  return Object.assign({}, ...Object.entries(fields).map(([key, value]) => mergedIn(key, value, depth)));
}

/** What is merged in may have something merged in itself; an anchor that merges itself in stays as it is. */
function mergedIn(key: string, value: unknown, depth: number): Fields {
  const all: unknown[] = Array.isArray(value) ? value.toReversed() : [value];
  if (key !== '<<' || depth > MAX_DEPTH || !all.every(isFields)) return { [key]: value };
  return Object.assign({}, ...all.map((one) => merged(one, depth + 1)));
}

function isFields(value: unknown): value is Fields {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  return ![FluentString, FluentJson, YamlInclude, RubyFloat].some((other) => value instanceof other);
}

function addProblem(reading: Reading, text: string): void {
  reading.problems.push({ place: reading.place, text });
}

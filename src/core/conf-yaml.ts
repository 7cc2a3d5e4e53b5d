import {
  type ConfItem,
  type ConfProblem,
  type ConfValue,
  type ParsedConf,
  type Place,
  rootElement,
} from './conf-element.ts';
import { interpolated, SyntaxProblem } from './conf-literal.ts';

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
}

type Fields = Readonly<Record<string, unknown>>;

const SECTIONS = ['label', 'source', 'filter', 'match', 'worker'];
const RESERVED = new Set(['$type', '$label', '$id', '$log_level']);
const MAX_DEPTH = 50;

/** A loaded YAML configuration as the same tree that the v1 syntax gives (`lib/fluent/config/yaml_parser/parser.rb`). */
export function confFromYaml(document: unknown, file: string): ParsedConf {
  const reading: Reading = { place: { file }, problems: [] };
  const fields = fieldsOf(document, 'the document', reading);
  const system = fields.system === undefined ? [] : [section('system', fields.system, reading)];
  const root = rootElement([...system, ...listItems(fields.config ?? [], reading, 0)], reading.place);
  return { root, problems: reading.problems };
}

/** A file that `!include` names: a list of sections, or further includes. */
export function confFromYamlList(list: unknown, file: string): ParsedConf {
  const reading: Reading = { place: { file }, problems: [] };
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
  return SECTIONS.filter((name) => entry[name] !== undefined).map((name) =>
    name === 'label' || name === 'worker'
      ? nested(name, fieldsOf(entry[name], name, reading), reading, depth)
      : section(name, entry[name], reading, depth),
  );
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
  const { $tag, $arg, ...fields } = fieldsOf(value, name, reading);
  const arg = argOf($tag ?? $arg, reading);
  if (depth > MAX_DEPTH) addProblem(reading, `${name} is nested too deeply`);
  const items =
    depth > MAX_DEPTH ? [] : Object.entries(fields).flatMap((field) => fieldItems(field, reading, depth + 1));
  return { kind: 'section', name, arg, items, place: reading.place };
}

function fieldItems([key, value]: [string, unknown], reading: Reading, depth: number): ConfItem[] {
  if (Array.isArray(value)) return value.map((one: unknown) => section(key, one, reading, depth));
  if (isFields(value)) return [section(key, value, reading, depth)];
  const text = scalar(value, reading);
  if (text === undefined) return [];
  const name = RESERVED.has(key) ? key.replace('$', '@') : key;
  return [{ kind: 'param', name, value: text, place: reading.place }];
}

function argOf(value: unknown, reading: Reading): ConfValue {
  if (Array.isArray(value)) return value.map(String).join(',');
  return scalar(value, reading) ?? '';
}

function scalar(value: unknown, reading: Reading): ConfValue | undefined {
  if (value === null || value === undefined) return undefined;
  if (value instanceof FluentJson) return JSON.stringify(value.value) ?? '';
  if (value instanceof FluentString) return interpolatedOrProblem(value.text, reading);
  if (value instanceof YamlInclude)
    addProblem(reading, `!include ${value.pattern} stands where no list is read`);
  return value instanceof YamlInclude ? undefined : String(value);
}

function interpolatedOrProblem(text: string, reading: Reading): ConfValue | undefined {
  try {
    return interpolated(text);
  } catch (error) {
    if (!(error instanceof SyntaxProblem)) throw error;
    addProblem(reading, `${error.message} in !fluent/s ${JSON.stringify(text)}`);
    return undefined;
  }
}

function fieldsOf(value: unknown, what: string, reading: Reading): Fields {
  if (isFields(value)) return value;
  addProblem(reading, `${what} is not a mapping`);
  return {};
}

function isFields(value: unknown): value is Fields {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  return !(value instanceof FluentString || value instanceof FluentJson || value instanceof YamlInclude);
}

function addProblem(reading: Reading, text: string): void {
  reading.problems.push({ place: reading.place, text });
}

import {
  type ConfItem,
  type ConfProblem,
  type ConfValue,
  type ParsedConf,
  type Place,
  rootElement,
} from './element.ts';
import { interpolated, SyntaxProblem } from './literal.ts';

export class Tagged {
  /** `!fluent/s` has embedded Ruby. `!include` holds a glob of files, each with a list of sections. */
  readonly tag: '!fluent/s' | '!fluent/json' | '!include';
  readonly value: unknown;

  constructor(tag: Tagged['tag'], value: unknown) {
    this.tag = tag;
    this.value = value;
  }
}

interface YamlContext {
  readonly place: Place;
  readonly problems: ConfProblem[];
}

type Fields = Readonly<Record<string, unknown>>;

const SECTIONS = ['label', 'source', 'filter', 'match', 'worker'];
const RESERVED = new Set(['$type', '$label', '$id', '$log_level']);
const MAX_DEPTH = 50;
const NIL: ConfValue = { parts: [{ ruby: 'use_nil' }] };

/** Converts a loaded YAML document to the tree of the v1 syntax (`lib/fluent/config/yaml_parser/parser.rb`). */
export function confFromYaml(document: unknown, file: string): ParsedConf {
  const context: YamlContext = { place: { file }, problems: [] };
  const fields = fieldsOf(document, 'the document', context);
  const system = fields.system === undefined ? [] : [section('system', fields.system, context)];
  const root = rootElement([...system, ...listItems(fields.config ?? [], context, 0)], context.place);
  return { root, problems: context.problems };
}

/** Converts a file that `!include` names: a list of sections or further includes. */
export function confFromYamlList(list: unknown, file: string): ParsedConf {
  const context: YamlContext = { place: { file }, problems: [] };
  return { root: rootElement(listItems(list, context, 0), context.place), problems: context.problems };
}

function listItems(list: unknown, context: YamlContext, depth: number): ConfItem[] {
  if (isInclude(list)) return [{ kind: 'include', path: String(list.value), place: context.place }];
  if (!Array.isArray(list) || depth > MAX_DEPTH) {
    addProblem(context, 'config is not a list of sections');
    return [];
  }
  return list.flatMap((entry: unknown) => {
    if (Array.isArray(entry) || isInclude(entry)) return listItems(entry, context, depth + 1);
    return entryItems(fieldsOf(entry, 'an entry of config', context), context, depth + 1);
  });
}

function isInclude(value: unknown): value is Tagged {
  return value instanceof Tagged && value.tag === '!include';
}

function entryItems(entry: Fields, context: YamlContext, depth: number): ConfItem[] {
  for (const name of Object.keys(entry))
    if (!SECTIONS.includes(name)) addProblem(context, `config has no section ${name}`);
  return SECTIONS.filter((name) => entry[name] !== undefined).map((name) => {
    if (name === 'source') return section(name, entry[name], context, depth);
    const fields = { ...fieldsOf(entry[name], name, context) };
    if (name !== 'label' && name !== 'worker') return section(name, fields, context, depth);
    const arg = argOf(name === 'label' ? fields.$name : fields.$arg, context);
    const items = listItems(fields.config ?? [], context, depth);
    return { kind: 'section', name, arg, items, place: context.place };
  });
}

function section(name: string, value: unknown, context: YamlContext, depth = 0): ConfItem {
  const { $tag, $arg, ...fields } = fieldsOf(value, name, context);
  const arg = argOf($tag ?? $arg, context);
  if (depth > MAX_DEPTH) addProblem(context, `${name} is nested too deeply`);
  const items =
    depth > MAX_DEPTH ? [] : Object.entries(fields).flatMap((field) => fieldItems(field, context, depth + 1));
  return { kind: 'section', name, arg, items, place: context.place };
}

function fieldItems([key, value]: [string, unknown], context: YamlContext, depth: number): ConfItem[] {
  if (isListOfSections(value)) return value.map((one) => section(key, one, context, depth));
  if (isFields(value)) return [section(key, value, context, depth)];
  const text = value === null ? NIL : scalar(value, context);
  if (text === undefined) return [];
  const name = RESERVED.has(key) ? key.replace('$', '@') : key;
  return [{ kind: 'param', name, value: text, place: context.place }];
}

/** Fluentd looks only at the first item (`section?` in `lib/fluent/config/yaml_parser/parser.rb`). Up to 1.19 every list was sections. */
function isListOfSections(value: unknown): value is unknown[] {
  return Array.isArray(value) && (value.length === 0 || isFields(value[0]));
}

function argOf(value: unknown, context: YamlContext): ConfValue {
  if (Array.isArray(value)) return value.map(String).join(',');
  return scalar(value, context) ?? '';
}

function scalar(value: unknown, context: YamlContext): ConfValue | undefined {
  if (value === null || value === undefined) return undefined;
  if (Array.isArray(value)) return JSON.stringify(value);
  if (!(value instanceof Tagged)) return String(value);
  if (value.tag === '!fluent/json') return JSON.stringify(value.value) ?? '';
  if (value.tag === '!fluent/s') return interpolatedOrProblem(String(value.value), context);
  addProblem(context, `!include ${value.value} stands where no list is read`);
  return undefined;
}

function interpolatedOrProblem(text: string, context: YamlContext): ConfValue | undefined {
  try {
    const value = interpolated(text);
    return typeof value === 'string' ? value : { ...value, yaml: true };
  } catch (error) {
    if (!(error instanceof SyntaxProblem)) throw error;
    addProblem(context, `${error.message} in !fluent/s ${JSON.stringify(text)}`);
    return undefined;
  }
}

function fieldsOf(value: unknown, what: string, context: YamlContext): Fields {
  if (isFields(value)) return value;
  addProblem(context, `${what} is not a mapping`);
  return {};
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Tagged);
}

function addProblem(context: YamlContext, text: string): void {
  context.problems.push({ place: context.place, text });
}

import type { ConfValue, Template } from './element.ts';
import { Scanner } from './literal.ts';

/** The values that embedded Ruby may use. */
export interface RubyContext {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly hostname: string;
  /** `SERVERENGINE_WORKER_ID`; empty in the supervisor (`lib/fluent/config/literal_parser.rb`). */
  readonly workerId?: number;
  /** `env` is not Fluentd's environment, so a variable that is missing here may exist there. */
  readonly foreign?: boolean;
}

/** The text; null for `use_nil` and `use_default`; or the reason why posidle cannot evaluate it. */
export type Evaluated = string | null | Unevaluable;

interface Unevaluable {
  readonly reason: string;
}

export function evaluate(value: ConfValue, context: RubyContext): Evaluated {
  if (typeof value === 'string') return value;
  try {
    return filledIn(value, context);
  } catch (error) {
    if (error instanceof Default) return value.yaml ? error.inYaml : null;
    throw error;
  }
}

function filledIn({ parts, json }: Template, context: RubyContext): Evaluated {
  try {
    const text = parts.map((part) => (typeof part === 'string' ? part : textOf(part.ruby, context))).join('');
    return json ? JSON.stringify(JSON.parse(text)) : text;
  } catch (error) {
    if (error instanceof Refusal) return { reason: error.message };
    if (error instanceof SyntaxError) return { reason: 'its result is not JSON' };
    throw error;
  }
}

function textOf(ruby: string, context: RubyContext): string {
  if (ruby.trim() === '') return '';
  const scanner = new Scanner(ruby);
  const value = firstOf(scanner, context);
  expectNext(scanner, /\s*$/y);
  return asText(value(), context);
}

class Refusal extends Error {}

/** `use_nil` or `use_default`. They give a text only in YAML (`lib/fluent/config/yaml_parser/fluent_value.rb`). */
class Default extends Error {
  readonly inYaml: string;

  constructor(inYaml: string) {
    super();
    this.inYaml = inYaml;
  }
}

/** The nil that `ENV` gives. */
class Unset {
  readonly name: string;

  constructor(name: string) {
    this.name = name;
  }
}

/** Ruby's String, Integer or nil. */
type Value = string | bigint | Unset;

/** Evaluates later: Ruby does not evaluate the right side of a `||` without need. */
type Expression = () => Value;

/** Operands between `||`: the first one that is not nil. */
function firstOf(scanner: Scanner, context: RubyContext): Expression {
  const operand = operandOf(scanner, context);
  if (scanner.take(/\s*\|\|/y) === undefined) return operand;
  const rest = firstOf(scanner, context);
  return () => {
    const value = operand();
    return value instanceof Unset ? rest() : value;
  };
}

function operandOf(scanner: Scanner, context: RubyContext): Expression {
  scanner.take(/\s+/y);
  // A number that begins with 0 is octal.
  const word = expectNext(
    scanner,
    /ENV\[|ENV\.fetch\(|File\.join\(|['"]|0(?!\d)|[1-9]\d*|(?:Socket\.gethostname|hostname|worker_id|use_nil|use_default)\b/y,
  );
  if (word === 'ENV[') return indexed(scanner, context);
  if (word === 'ENV.fetch(') return fetched(scanner, context);
  if (word === 'File.join(') return joined(scanner, context);
  if (word === '"') return doubleQuoted(scanner, context);
  if (word === "'") return always(expectNext(scanner, /[^'\\]*'/y).slice(0, -1));
  if (word.endsWith('hostname')) return always(context.hostname);
  if (word === 'worker_id') return always(context.workerId?.toString() ?? '');
  if (!word.startsWith('use_')) return always(BigInt(word));
  return () => {
    throw new Default(word === 'use_nil' ? '' : ':default');
  };
}

function always(value: Value): Expression {
  return () => value;
}

function indexed(scanner: Scanner, context: RubyContext): Expression {
  const name = nameOf(scanner);
  expectNext(scanner, /\s*\]/y);
  return always(variable(name, context) ?? new Unset(name));
}

function fetched(scanner: Scanner, context: RubyContext): Expression {
  const name = nameOf(scanner);
  const otherwise = scanner.take(/\s*,/y) === undefined ? undefined : firstOf(scanner, context);
  expectNext(scanner, /\s*\)/y);
  return () => {
    // Ruby evaluates the second argument in any case.
    const value = otherwise?.();
    return variable(name, context) ?? value ?? refuse(unsetText(name));
  };
}

function joined(scanner: Scanner, context: RubyContext): Expression {
  const parts: Expression[] = [];
  do parts.push(firstOf(scanner, context));
  while (scanner.take(/\s*,/y) !== undefined);
  expectNext(scanner, /\s*\)/y);
  return () => {
    const values = parts.map((part) => part());
    return joinPath(values.map((value) => asString(value, context)));
  };
}

/** Ruby's File.join. */
export function joinPath(parts: readonly string[]): string {
  return parts.reduce((path, part) => {
    if (part.startsWith('/')) return path.replace(/(?<!\/)\/+$/, '') + part;
    return path.endsWith('/') ? path + part : `${path}/${part}`;
  });
}

function doubleQuoted(scanner: Scanner, context: RubyContext): Expression {
  const parts: Expression[] = [];
  while (scanner.take(/"/y) === undefined) {
    if (scanner.take(/#\{/y) === undefined) {
      // `#$name` and `#@name` are variables.
      parts.push(always(expectNext(scanner, /(?:[^"\\#]|#(?![{$@]))+/y)));
    } else {
      parts.push(firstOf(scanner, context));
      expectNext(scanner, /\s*\}/y);
    }
  }
  return () => parts.map((part) => asText(part(), context)).join('');
}

function nameOf(scanner: Scanner): string {
  return expectNext(scanner, /\s*(?:'\w+'|"\w+")/y)
    .trim()
    .slice(1, -1);
}

function variable(name: string, { env, workerId }: RubyContext): string | undefined {
  if (name === 'SERVERENGINE_WORKER_ID') return workerId?.toString();
  return Object.hasOwn(env, name) ? env[name] : undefined;
}

/** As Ruby puts a value into a string. */
function asText(value: Value, { foreign = false }: RubyContext): string {
  if (!(value instanceof Unset)) return String(value);
  return foreign ? refuse(unsetText(value.name)) : '';
}

/** As a method takes it that wants a String: nil and numbers are errors. */
function asString(value: Value, { foreign = false }: RubyContext): string {
  if (typeof value === 'string') return value;
  return refuse(foreign && value instanceof Unset ? unsetText(value.name) : 'File.join takes only strings');
}

function expectNext(scanner: Scanner, pattern: RegExp): string {
  return scanner.take(pattern) ?? refuse();
}

function refuse(
  reason = 'posidle evaluates only ENV, File.join, hostname, worker_id, use_nil and use_default',
): never {
  throw new Refusal(reason);
}

function unsetText(name: string): string {
  return `${name} is not set in posidle's own environment`;
}

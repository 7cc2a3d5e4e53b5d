import type { ConfValue } from './element.ts';
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

/** Ruby's Integer and the nil that `ENV` gives; the others are as above. */
type Value = Evaluated | bigint | Unset;

interface Unset {
  readonly unset: string;
}

/** The text is no Ruby that posidle evaluates. */
class Refusal extends Error {}

const REFUSED = 'posidle evaluates only ENV, File.join, hostname, worker_id, use_nil and use_default';

export function evaluate(value: ConfValue, context: RubyContext): Evaluated {
  if (typeof value === 'string') return value;
  const text = joined(
    value.parts.map((part) => (typeof part === 'string' ? part : textOf(part.ruby, context))),
  );
  return value.json && typeof text === 'string' ? asJson(text) : text;
}

function asJson(text: string): Evaluated {
  try {
    return JSON.stringify(JSON.parse(text));
  } catch {
    return { reason: 'it is not JSON' };
  }
}

function textOf(ruby: string, context: RubyContext): Evaluated {
  if (ruby.trim() === '') return '';
  try {
    const scanner = new Scanner(ruby);
    const value = firstOf(scanner, context);
    expectNext(scanner, /\s*$/y);
    return asText(value, context);
  } catch (error) {
    if (error instanceof Refusal) return { reason: REFUSED };
    throw error;
  }
}

/** Operands between `||`: the first one that is not nil. */
function firstOf(scanner: Scanner, context: RubyContext): Value {
  const operand = operandOf(scanner, context);
  if (scanner.take(/\s*\|\|/y) === undefined) return operand;
  const rest = firstOf(scanner, context);
  return isUnset(operand) ? rest : operand;
}

function operandOf(scanner: Scanner, context: RubyContext): Value {
  scanner.take(/\s+/y);
  // A number that begins with 0 is octal.
  const word = expectNext(
    scanner,
    /ENV\[|ENV\.fetch\(|File\.join\(|['"]|0(?!\d)|[1-9]\d*|(?:Socket\.gethostname|hostname|worker_id|use_nil|use_default)\b/y,
  );
  if (word === 'ENV[') return indexed(scanner, context);
  if (word === 'ENV.fetch(') return fetched(scanner, context);
  if (word === 'File.join(') return joinedPath(scanner, context);
  if (word === '"') return doubleQuoted(scanner, context);
  if (word === "'") return expectNext(scanner, /[^'\\]*'/y).slice(0, -1);
  if (word.endsWith('hostname')) return context.hostname;
  if (word === 'worker_id') return context.workerId?.toString() ?? '';
  return word.startsWith('use_') ? null : BigInt(word);
}

function indexed(scanner: Scanner, context: RubyContext): Value {
  const name = nameOf(scanner);
  expectNext(scanner, /\s*\]/y);
  return variable(name, context) ?? { unset: name };
}

function fetched(scanner: Scanner, context: RubyContext): Value {
  const name = nameOf(scanner);
  const otherwise = scanner.take(/\s*,/y) === undefined ? undefined : firstOf(scanner, context);
  expectNext(scanner, /\s*\)/y);
  // Ruby evaluates the second argument in any case.
  if (otherwise !== undefined && hasEnded(otherwise)) return otherwise;
  return variable(name, context) ?? otherwise ?? unknown(name);
}

function joinedPath(scanner: Scanner, context: RubyContext): Value {
  const parts: Value[] = [];
  do parts.push(firstOf(scanner, context));
  while (scanner.take(/\s*,/y) !== undefined);
  expectNext(scanner, /\s*\)/y);
  const ended = parts.find(hasEnded);
  if (ended !== undefined) return ended;
  const other = parts.find((part) => typeof part !== 'string');
  if (other === undefined) return joinPath(parts.map(String));
  return context.foreign && isUnset(other)
    ? unknown(other.unset)
    : { reason: 'File.join takes only strings' };
}

/** Ruby's File.join. */
export function joinPath(parts: readonly string[]): string {
  return parts.reduce((path, part) => {
    if (part.startsWith('/')) return path.replace(/(?<!\/)\/+$/, '') + part;
    return path.endsWith('/') ? path + part : `${path}/${part}`;
  });
}

function doubleQuoted(scanner: Scanner, context: RubyContext): Value {
  const parts: Evaluated[] = [];
  while (scanner.take(/"/y) === undefined) {
    if (scanner.take(/#\{/y) === undefined) {
      // `#$name` and `#@name` are variables.
      parts.push(expectNext(scanner, /(?:[^"\\#]|#(?![{$@]))+/y));
    } else {
      parts.push(asText(firstOf(scanner, context), context));
      expectNext(scanner, /\s*\}/y);
    }
  }
  return joined(parts);
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
function asText(value: Value, { foreign }: RubyContext): Evaluated {
  if (isUnset(value)) return foreign ? unknown(value.unset) : '';
  return typeof value === 'bigint' ? String(value) : value;
}

function joined(parts: readonly Evaluated[]): Evaluated {
  const ended = parts.find(hasEnded);
  return ended === undefined ? parts.join('') : ended;
}

function isUnset(value: Value): value is Unset {
  return typeof value === 'object' && value !== null && 'unset' in value;
}

/** `use_nil`, `use_default` and errors end the evaluation. */
function hasEnded(value: Value): value is null | Unevaluable {
  return value === null || (typeof value === 'object' && !isUnset(value));
}

function expectNext(scanner: Scanner, pattern: RegExp): string {
  const found = scanner.take(pattern);
  if (found === undefined) throw new Refusal();
  return found;
}

function unknown(name: string): Unevaluable {
  return { reason: `${name} is not set in posidle's own environment` };
}

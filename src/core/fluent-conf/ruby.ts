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
type Evaluated = string | null | { readonly reason: string };

/** Ruby's String and Integer, and the nil that `ENV` gives. */
type Value = string | bigint | { readonly unset: string };

/** Gives its value only if that is needed, as in Ruby. */
type Expression = (context: RubyContext) => Value;

/** Ends an evaluation. Its message is the reason why posidle cannot evaluate the text; empty: `use_nil` or `use_default`. */
class Ended extends Error {}

const REFUSED = 'posidle evaluates only ENV, File.join, hostname, worker_id, use_nil and use_default';

export function evaluate(value: ConfValue, context: RubyContext): Evaluated {
  if (typeof value === 'string') return value;
  try {
    return value.map((part) => (typeof part === 'string' ? part : textOf(part.ruby, context))).join('');
  } catch (error) {
    if (!(error instanceof Ended)) throw error;
    return error.message === '' ? null : { reason: error.message };
  }
}

function textOf(ruby: string, context: RubyContext): string {
  if (ruby.trim() === '') return '';
  const scanner = new Scanner(ruby);
  const expression = firstOf(scanner);
  expectNext(scanner, /\s*$/y);
  return asText(expression(context), context);
}

/** Operands between `||`: the first one that is not nil. */
function firstOf(scanner: Scanner): Expression {
  const operand = operandOf(scanner);
  if (scanner.take(/\s*\|\|/y) === undefined) return operand;
  const rest = firstOf(scanner);
  return (context) => {
    const value = operand(context);
    return typeof value === 'object' ? rest(context) : value;
  };
}

function operandOf(scanner: Scanner): Expression {
  scanner.take(/\s+/y);
  // A number that begins with 0 is octal.
  const word = expectNext(
    scanner,
    /ENV\[|ENV\.fetch\(|File\.join\(|['"]|0(?!\d)|[1-9]\d*|(?:Socket\.gethostname|hostname|worker_id|use_nil|use_default)\b/y,
  );
  if (word === 'ENV[') return indexed(scanner);
  if (word === 'ENV.fetch(') return fetched(scanner);
  if (word === 'File.join(') return joinedPath(scanner);
  if (word === '"') return doubleQuoted(scanner);
  if (word === "'") return plain(expectNext(scanner, /[^'\\]*'/y).slice(0, -1));
  if (word.endsWith('hostname')) return ({ hostname }) => hostname;
  if (word === 'worker_id') return ({ workerId }) => workerId?.toString() ?? '';
  return word.startsWith('use_') ? () => end('') : plain(BigInt(word));
}

function plain(value: Value): Expression {
  return () => value;
}

function indexed(scanner: Scanner): Expression {
  const name = nameOf(scanner);
  expectNext(scanner, /\s*\]/y);
  return (context) => variable(name, context) ?? { unset: name };
}

function fetched(scanner: Scanner): Expression {
  const name = nameOf(scanner);
  const otherwise = scanner.take(/\s*,/y) === undefined ? undefined : firstOf(scanner);
  expectNext(scanner, /\s*\)/y);
  return (context) => {
    // Ruby evaluates the second argument in any case.
    const fallback = otherwise?.(context);
    return variable(name, context) ?? fallback ?? unknown(name);
  };
}

function joinedPath(scanner: Scanner): Expression {
  const parts: Expression[] = [];
  do parts.push(firstOf(scanner));
  while (scanner.take(/\s*,/y) !== undefined);
  expectNext(scanner, /\s*\)/y);
  return (context) => {
    const values = parts.map((part) => part(context));
    const other = values.find((value) => typeof value !== 'string');
    if (other === undefined) return joinPath(values.map(String));
    const isUnknown = context.foreign && typeof other === 'object';
    return isUnknown ? unknown(other.unset) : end('File.join takes only strings');
  };
}

/** Ruby's File.join. */
export function joinPath(parts: readonly string[]): string {
  return parts.reduce((path, part) => {
    if (part.startsWith('/')) return path.replace(/(?<!\/)\/+$/, '') + part;
    return path.endsWith('/') ? path + part : `${path}/${part}`;
  });
}

function doubleQuoted(scanner: Scanner): Expression {
  const parts: Expression[] = [];
  while (scanner.take(/"/y) === undefined) {
    if (scanner.take(/#\{/y) === undefined) {
      // `#$name` and `#@name` are variables.
      parts.push(plain(expectNext(scanner, /(?:[^"\\#]|#(?![{$@]))+/y)));
    } else {
      parts.push(firstOf(scanner));
      expectNext(scanner, /\s*\}/y);
    }
  }
  return (context) => parts.map((part) => asText(part(context), context)).join('');
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
function asText(value: Value, { foreign }: RubyContext): string {
  if (typeof value !== 'object') return String(value);
  return foreign ? unknown(value.unset) : '';
}

function expectNext(scanner: Scanner, pattern: RegExp): string {
  return scanner.take(pattern) ?? end(REFUSED);
}

function unknown(name: string): never {
  return end(`${name} is not set in posidle's own environment`);
}

function end(why: string): never {
  throw new Ended(why);
}

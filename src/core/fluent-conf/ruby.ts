import type { ConfValue, Template } from './element.ts';

/** What embedded Ruby may ask for. */
export interface RubyContext {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly hostname: string;
  /** `SERVERENGINE_WORKER_ID`; empty in the supervisor (`lib/fluent/config/literal_parser.rb`). */
  readonly workerId?: number;
  /** `env` is not the environment that Fluentd runs in: a variable that is not set here may be set there. */
  readonly foreign?: boolean;
}

/** Text; null for `use_nil` and `use_default`; or why it cannot be evaluated. */
export type Evaluated = string | null | Unevaluable;

interface Unevaluable {
  readonly reason: string;
}

const MAX_LENGTH = 2_000;

/** What a value is in the given context. */
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

/** What `"#{ruby}"` is in the given context. */
function textOf(ruby: string, context: RubyContext): string {
  if (ruby.length > MAX_LENGTH) throw refuse('it is too long');
  return new Parser(ruby, context).whole() ?? '';
}

/** The variables that a value takes from an environment in which they are not set. */
export function unsetVariables(value: ConfValue, context: RubyContext): string[] {
  if (typeof value === 'string') return [];
  const ruby = value.parts.map((part) => (typeof part === 'string' ? '' : part.ruby)).join('\n');
  const names = [...ruby.matchAll(/\bENV(?:\[|\.fetch\()\s*(['"])(\w+)\1/g)].map((match) => match[2] ?? '');
  return names.filter((name) => context.env[name] === undefined);
}

/** Ruby's File.join: one slash where two parts meet. */
export function joinPath(parts: readonly string[]): string {
  const [first = '', ...rest] = parts;
  return rest.reduce((path, part) => {
    if (part.startsWith('/')) return path.replace(/(?<!\/)\/+$/, '') + part;
    return path.endsWith('/') ? path + part : `${path}/${part}`;
  }, first);
}

class Refusal extends Error {}

/** `use_nil` and `use_default` leave no text, but in YAML (`lib/fluent/config/yaml_parser/fluent_value.rb`). */
class Default extends Error {
  readonly inYaml: string;

  constructor(inYaml: string) {
    super();
    this.inYaml = inYaml;
  }
}

type Value = string | null;

/** Ruby evaluates what stands right of `||` only where the left is nil; so does a lazy value. */
type Lazy = () => Value;

class Parser {
  private rest: string;
  private readonly context: RubyContext;
  private depth = 0;
  private missing: string | undefined;

  constructor(ruby: string, context: RubyContext) {
    this.rest = ruby;
    this.context = context;
  }

  whole(): Value {
    if (this.rest.trim() === '') return null;
    const value = this.either();
    this.take(/^\s*/);
    if (this.rest !== '') throw refuse();
    const result = value();
    if (result === null && this.context.foreign && this.missing !== undefined)
      throw refuse(unset(this.missing));
    return result;
  }

  private either(): Lazy {
    if (++this.depth > 20) throw refuse();
    let value = this.primary();
    while (this.take(/^\s*\|\|/) !== undefined) {
      const left = value;
      const right = this.primary();
      value = () => left() ?? right();
    }
    this.depth--;
    return value;
  }

  private primary(): Lazy {
    this.take(/^\s+/);
    if (this.take(/^\(/) !== undefined) return this.closed(')', this.either());
    if (this.take(/^ENV\[/) !== undefined) {
      const name = this.closed(']', this.either());
      return () => this.lookUp(name) ?? null;
    }
    if (this.take(/^ENV\.fetch\(/) !== undefined) return this.fetch();
    if (this.take(/^(?:File|::File)\.join\(/) !== undefined) return this.join();
    const number = this.take(/^\d+\b(?!\.)/);
    return number === undefined ? (this.quoted() ?? this.word()) : () => number;
  }

  private lookUp(name: Lazy): string | undefined {
    const key = name();
    if (key === null) throw refuse();
    const value = key === 'SERVERENGINE_WORKER_ID' ? this.workerId() : this.context.env[key];
    if (value === undefined) this.missing = key;
    return value;
  }

  private fetch(): Lazy {
    const [name, fallback, ...more] = this.list();
    if (name === undefined || more.length > 0) throw refuse();
    const block = this.take(/^\s*\{/) === undefined ? undefined : this.closed('}', this.either());
    const otherwise = block ?? fallback;
    return () => {
      const value = this.lookUp(name);
      if (value !== undefined) return value;
      if (otherwise === undefined) throw refuse(unset(name()));
      return otherwise();
    };
  }

  private join(): Lazy {
    const parts = this.list();
    return () =>
      joinPath(
        parts.map((part) => {
          const text = part();
          if (text === null) throw refuse('File.join takes no nil');
          return text;
        }),
      );
  }

  private list(): Lazy[] {
    const values: Lazy[] = [];
    do values.push(this.either());
    while (this.take(/^\s*,/) !== undefined);
    this.closed(')', () => null);
    return values;
  }

  private closed(bracket: string, value: Lazy): Lazy {
    this.take(/^\s+/);
    if (!this.rest.startsWith(bracket)) throw refuse();
    this.rest = this.rest.slice(1);
    return value;
  }

  private quoted(): Lazy | undefined {
    const single = this.take(/^'(?:[^'\\]|\\[\s\S])*'/);
    if (single !== undefined) {
      const text = single.slice(1, -1).replace(/\\(['\\])/g, '$1');
      return () => text;
    }
    const double = this.take(/^"[^"\\#]*"/);
    return double === undefined ? undefined : () => double.slice(1, -1);
  }

  private word(): Lazy {
    const word = this.take(/^(?:Socket\.gethostname|hostname|worker_id|use_nil|use_default|nil)\b(?![.(?!])/);
    if (word === undefined) throw refuse();
    if (word.endsWith('hostname')) return () => this.context.hostname;
    if (word === 'worker_id') return () => this.workerId() ?? '';
    if (word === 'nil') return () => null;
    return () => {
      throw new Default(word === 'use_nil' ? '' : ':default');
    };
  }

  private workerId(): string | undefined {
    return this.context.workerId?.toString();
  }

  private take(pattern: RegExp): string | undefined {
    const match = pattern.exec(this.rest)?.[0];
    if (match !== undefined) this.rest = this.rest.slice(match.length);
    return match;
  }
}

function refuse(
  reason = 'posidle evaluates only ENV, hostname, worker_id, File.join, use_nil and use_default',
): Refusal {
  return new Refusal(reason);
}

function unset(name: string | null): string {
  return `${name} is not set in posidle's own environment`;
}

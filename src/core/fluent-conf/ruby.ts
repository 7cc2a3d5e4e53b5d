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
/** `ENV['NAME']`, or the beginning of `ENV.fetch('NAME', …)`. */
const VARIABLE = /^\s*ENV(?:\[\s*(['"])(\w+)\1\s*\]|\.fetch\(\s*(['"])(\w+)\3\s*)/;

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
  if (ruby.length > MAX_LENGTH) throw refusal('it is too long');
  return new Parser(ruby, context).whole();
}

/** The variables that a value takes from an environment in which they are not set. */
export function unsetVariables(value: ConfValue, context: RubyContext): string[] {
  if (typeof value === 'string') return [];
  const ruby = value.parts.map((part) => (typeof part === 'string' ? '' : part.ruby)).join('\n');
  const names = [...ruby.matchAll(/\bENV(?:\[|\.fetch\()\s*(['"])(\w+)\1/g)].map((match) => match[2] ?? '');
  return names.filter((name) => context.env[name] === undefined);
}

class Refusal extends Error {}

/** `use_nil` and `use_default` leave no text, but in YAML they do (`lib/fluent/config/yaml_parser/fluent_value.rb`). */
class Default extends Error {
  readonly inYaml: string;

  constructor(inYaml: string) {
    super();
    this.inYaml = inYaml;
  }
}

/** An error is one that Ruby raises where it comes to it: it does not evaluate what stands right of a `||` without need. */
type Value = string | null | Default | Refusal;

class Parser {
  private rest: string;
  private readonly context: RubyContext;
  private missing: string | undefined;

  constructor(ruby: string, context: RubyContext) {
    this.rest = ruby;
    this.context = context;
  }

  whole(): string {
    if (this.rest.trim() === '') return '';
    const value = this.either();
    if (this.rest.trim() !== '') throw refusal();
    if (value instanceof Error) throw value;
    if (value === null && this.context.foreign && this.missing !== undefined) throw unset(this.missing);
    return value ?? '';
  }

  private either(): Value {
    let value = this.primary();
    while (this.take(/^\s*\|\|/) !== undefined) {
      const otherwise = this.primary();
      value ??= otherwise;
    }
    return value;
  }

  private primary(): Value {
    const variable = this.take(VARIABLE);
    if (variable !== undefined) return this.variable(variable);
    const literal = this.take(/^\s*(?:'([^'\\]*)'|"([^"\\#]*)"|(\d+)\b(?!\.))/);
    if (literal !== undefined) return literal[1] ?? literal[2] ?? literal[3] ?? '';
    const [, word] =
      this.take(/^\s*(Socket\.gethostname|hostname|worker_id|use_nil|use_default)\b(?![.(?!])/) ?? [];
    if (word === undefined) throw refusal();
    if (word.endsWith('hostname')) return this.context.hostname;
    if (word === 'worker_id') return this.workerId() ?? '';
    return new Default(word === 'use_nil' ? '' : ':default');
  }

  private variable([, , indexed, , fetched]: RegExpExecArray): Value {
    if (fetched === undefined) return this.lookUp(indexed ?? '') ?? null;
    const otherwise = this.take(/^,/) === undefined ? unset(fetched) : this.either();
    if (this.take(/^\s*\)/) === undefined) throw refusal();
    return this.lookUp(fetched) ?? otherwise;
  }

  private lookUp(name: string): string | undefined {
    const value = name === 'SERVERENGINE_WORKER_ID' ? this.workerId() : this.context.env[name];
    if (value === undefined) this.missing = name;
    return value;
  }

  private workerId(): string | undefined {
    return this.context.workerId?.toString();
  }

  private take(pattern: RegExp): RegExpExecArray | undefined {
    const match = pattern.exec(this.rest) ?? undefined;
    this.rest = this.rest.slice(match?.[0].length ?? 0);
    return match;
  }
}

function refusal(
  reason = 'posidle evaluates only ENV, hostname, worker_id, use_nil and use_default',
): Refusal {
  return new Refusal(reason);
}

function unset(name: string): Refusal {
  return refusal(`${name} is not set in posidle's own environment`);
}

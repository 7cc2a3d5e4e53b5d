import type { ConfValue, Template } from './element.ts';

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

/** One operand of `||`. */
const OPERAND =
  /^\s*(?:ENV(?:\[\s*(['"])(?<indexed>\w+)\1\s*\]|\.fetch\(\s*(['"])(?<fetched>\w+)\3\s*(?:,(?<otherwise>[^)]*))?\))|'(?<single>[^'\\]*)'|"(?<double>[^"\\#]*)"|(?<digits>\d+)|(?<word>Socket\.gethostname|hostname|worker_id|use_nil|use_default))\s*(?:\|\||$)/;

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
  const value = firstOf(ruby, context);
  if (value instanceof Error) throw value;
  const [missing] = value === null && context.foreign ? unsetIn(ruby, context) : [];
  if (missing !== undefined) throw unset(missing);
  return value ?? '';
}

function unsetIn(ruby: string, { env }: RubyContext): string[] {
  const names = [...ruby.matchAll(/\bENV(?:\[|\.fetch\()\s*(['"])(\w+)\1/g)].map((match) => match[2] ?? '');
  return names.filter((name) => env[name] === undefined);
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

/** A Refusal counts only if evaluation reaches it: Ruby does not evaluate the right side of a `||` without need. */
type Value = string | null | Default | Refusal;

/** The first operand that is not nil. */
function firstOf(ruby: string, context: RubyContext): Value {
  let value: Value = null;
  let rest = ruby;
  for (let isLast = false; !isLast; ) {
    const { 0: operand, groups } = OPERAND.exec(rest) ?? {};
    if (operand === undefined || groups === undefined) throw refusal();
    value ??= operandOf(groups, context);
    rest = rest.slice(operand.length);
    isLast = !operand.endsWith('||');
  }
  return value;
}

function operandOf(groups: Readonly<Record<string, string | undefined>>, context: RubyContext): Value {
  const { indexed, fetched, otherwise, single, double, digits, word } = groups;
  if (fetched !== undefined)
    return (
      variable(fetched, context) ?? (otherwise === undefined ? unset(fetched) : firstOf(otherwise, context))
    );
  if (word === undefined) return single ?? double ?? digits ?? variable(indexed ?? '', context) ?? null;
  if (word.endsWith('hostname')) return context.hostname;
  if (word === 'worker_id') return context.workerId?.toString() ?? '';
  return new Default(word === 'use_nil' ? '' : ':default');
}

function variable(name: string, { env, workerId }: RubyContext): string | undefined {
  return name === 'SERVERENGINE_WORKER_ID' ? workerId?.toString() : env[name];
}

function refusal(
  reason = 'posidle evaluates only ENV, hostname, worker_id, use_nil and use_default',
): Refusal {
  return new Refusal(reason);
}

function unset(name: string): Refusal {
  return refusal(`${name} is not set in posidle's own environment`);
}

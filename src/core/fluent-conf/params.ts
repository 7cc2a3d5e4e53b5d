import type { Millis } from '../text/units.ts';
import {
  type ConfElement,
  type ConfParam,
  type ConfProblem,
  paramOf,
  placeText,
  sectionsOf,
  writtenText,
} from './element.ts';
import { evaluate, type RubyContext } from './ruby.ts';

export interface EvalContext {
  readonly ruby: RubyContext;
  readonly problems: ConfProblem[];
  readonly warnings: string[];
}

/** The parameters of one section, converted as Fluentd converts them (`lib/fluent/config/types.rb`). */
export class Params {
  readonly element: ConfElement;
  private readonly context: EvalContext;

  constructor(element: ConfElement, context: EvalContext) {
    this.element = element;
    this.context = context;
  }

  /** The value of the first name that is given. */
  text(...names: string[]): string | undefined {
    for (const name of names) {
      const param = paramOf(this.element, name);
      const value = param === undefined ? undefined : this.known(param);
      if (value !== undefined) return value;
    }
    return undefined;
  }

  /** The same, but unevaluated. */
  written(...names: string[]): string | undefined {
    const param = names.map((name) => paramOf(this.element, name)).find((found) => found !== undefined);
    return param && writtenText(param.value);
  }

  time(...names: string[]): Millis | undefined {
    return mapped(this.number(...names), parseTime);
  }

  size(name: string): number | undefined {
    return mapped(this.number(name), parseBytes);
  }

  integer(name: string): number | undefined {
    return mapped(this.number(name), toInteger);
  }

  bool(...names: string[]): boolean | undefined {
    return mapped(this.text(...names), parseBool);
  }

  list(name: string): string[] {
    return mapped(this.text(name), parseList) ?? [];
  }

  /** The text after the name in the tag; undefined if posidle cannot evaluate its Ruby. */
  arg(): string | undefined {
    const value = evaluate(this.element.arg, this.context.ruby);
    return typeof value === 'string' ? value : undefined;
  }

  writtenArg(): string {
    return writtenText(this.element.arg);
  }

  /** The same section, but its problems and warnings are not recorded. */
  unrecorded(): Params {
    return new Params(this.element, { ...this.context, problems: [], warnings: [] });
  }

  sections(...names: string[]): Params[] {
    return sectionsOf(this.element, ...names).map((element) => new Params(element, this.context));
  }

  warn(text: string): void {
    this.context.warnings.push(`${placeText(this.element.place)}: ${text}.`);
  }

  problem(text: string, parameter?: string): void {
    const { place } = this.element;
    this.context.problems.push(parameter === undefined ? { place, text } : { place, text, parameter });
  }

  /** Takes an empty text as not given, as Fluentd prints a nil (`dump_value` in `lib/fluent/config/element.rb`). */
  private number(...names: string[]): string | undefined {
    return this.text(...names) || undefined;
  }

  private known({ name, value: written, place }: ConfParam): string | undefined {
    const value = evaluate(written, this.context.ruby);
    if (typeof value === 'string' || value === null) return value ?? undefined;
    const remedy = name === 'pos_file' ? 'name the pos file to posidle' : 'write the value out';
    const text = `${name} is "${writtenText(written)}", which posidle cannot evaluate (${value.reason}): ${remedy}`;
    this.context.problems.push({ place, text, parameter: name });
    return undefined;
  }
}

/** `60`, `0.5`, `60s`, `5m`, `1h`, `1d`. As in Fluentd, the number right before a unit counts: `1.5s` is 5 s, `500ms` is 500 min. */
export function parseTime(text: string): Millis {
  for (const [unit, factor] of Object.entries({ s: 1, m: 60, h: 3_600, d: 86_400 })) {
    const match = new RegExp(`(?<![0-9])([0-9]+)${unit}`).exec(text);
    if (match !== null) return Number(match[1]) * factor * 1_000;
  }
  return (Number.parseFloat(text) || 0) * 1_000;
}

/** `8192`, `8k`, `1m`, `64MB`, `1g`; powers of 1024. */
export function parseBytes(text: string): number {
  for (const [power, unit] of [...'kmgt'].entries()) {
    const match = new RegExp(`(?<![0-9])([0-9]+)${unit}`, 'i').exec(text);
    if (match !== null) return Number(match[1]) * 1024 ** (power + 1);
  }
  return toInteger(text);
}

/** `true`, `yes` and an empty text are true. Everything else (`on`, `1`) is false. */
export function parseBool(text: string): boolean {
  return text === 'true' || text === 'yes' || text === '' || text.startsWith('#');
}

/** A JSON array, or items between commas. */
export function parseList(text: string): string[] {
  if (!text.startsWith('[')) return text.trim() === '' ? [] : text.split(',').map((item) => item.trim());
  try {
    const items: unknown = JSON.parse(text);
    return Array.isArray(items) ? items.map(String) : [];
  } catch {
    return [];
  }
}

function toInteger(text: string): number {
  return Number.parseInt(text, 10) || 0;
}

function mapped<T>(text: string | undefined, parse: (text: string) => T): T | undefined {
  return text === undefined ? undefined : parse(text);
}

import type { Millis } from '../text/units.ts';
import { type ConfElement, type ConfParam, type ConfProblem, writtenText } from './element.ts';
import { evaluate, type RubyContext } from './ruby.ts';

export interface EvalContext {
  readonly ruby: RubyContext;
  readonly problems: ConfProblem[];
  readonly warnings: ConfProblem[];
}

/** The parameters of one section, converted as Fluentd converts them (`lib/fluent/config/types.rb`). */
export class Params {
  readonly element: ConfElement;
  private readonly context: EvalContext;

  constructor(element: ConfElement, context: EvalContext) {
    this.element = element;
    this.context = context;
  }

  /** `@type` and `@id` also have their old names. */
  text(name: string): string | undefined {
    const param = this.param(name);
    if (param === undefined) return undefined;
    const value = evaluate(param.value, this.context.ruby);
    if (typeof value === 'string' || value === null) return value ?? undefined;
    const why = `${value.reason}; write the value out`;
    const text = `${name} is "${writtenText(param.value)}"`;
    this.context.problems.push({ place: param.place, text, why, parameter: name });
    return undefined;
  }

  /** The same, but unevaluated. */
  written(name: string): string | undefined {
    const param = this.param(name);
    return param && writtenText(param.value);
  }

  /** A value that posidle cannot evaluate is no problem here. */
  isTrue(name: string): boolean {
    const value = evaluate(this.param(name)?.value ?? 'false', this.context.ruby);
    return typeof value === 'string' && parseBool(value);
  }

  /** The text after the name in the tag; undefined if posidle cannot evaluate its Ruby. */
  arg(): string | undefined {
    const value = evaluate(this.element.arg, this.context.ruby);
    return typeof value === 'string' ? value : undefined;
  }

  sections(...names: string[]): Params[] {
    return this.element.items.flatMap((item) =>
      item.kind === 'section' && names.includes(item.name) ? [new Params(item, this.context)] : [],
    );
  }

  warn(text: string): void {
    this.context.warnings.push({ place: this.element.place, text });
  }

  problem(text: string, parameter: string): void {
    this.context.problems.push({ place: this.element.place, text, parameter });
  }

  private param(name: string) {
    const last = (wanted: string) =>
      this.element.items.findLast((item): item is ConfParam => item.kind === 'param' && item.name === wanted);
    return last(name) ?? last(name.replace(/^@/, ''));
  }
}

/** `60`, `0.5`, `60s`, `5m`, `1h`, `1d`. As in Fluentd, the number right before a unit counts: `1.5s` is 5 s, `500ms` is 500 min. */
export function parseTime(text: string): Millis {
  for (const [unit, seconds] of Object.entries({ s: 1, m: 60, h: 3_600, d: 86_400 })) {
    const match = new RegExp(`(?<![0-9])([0-9]+)${unit}`).exec(text);
    if (match !== null) return Number(match[1]) * seconds * 1_000;
  }
  return (Number.parseFloat(text) || 0) * 1_000;
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

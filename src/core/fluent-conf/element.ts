/** A place in a configuration file, or the whole file. */
export interface Place {
  readonly file: string;
  readonly line?: number;
}

/** Embedded Ruby, without its `#{` and `}`. */
export interface Ruby {
  readonly ruby: string;
}

/** A value as written: plain text, or parts of which some are embedded Ruby. */
export type ConfValue = string | readonly (string | Ruby)[];

export interface ConfParam {
  readonly kind: 'param';
  readonly name: string;
  readonly value: ConfValue;
  readonly place: Place;
}

/** One `@include` line, not yet resolved. */
export interface ConfInclude {
  readonly kind: 'include';
  readonly path: ConfValue;
  readonly place: Place;
}

export interface ConfElement {
  readonly kind: 'section';
  readonly name: string;
  readonly arg: ConfValue;
  readonly items: readonly ConfItem[];
  readonly place: Place;
}

export type ConfItem = ConfParam | ConfInclude | ConfElement;

export interface ParsedConf {
  readonly root: ConfElement;
  readonly problems: readonly ConfProblem[];
}

export interface ConfProblem {
  readonly place: Place;
  readonly text: string;
  /** The reason and what helps, if other places may have the same. */
  readonly why?: string;
  readonly parameter?: string;
}

export function rootElement(items: readonly ConfItem[], place: Place): ConfElement {
  return { kind: 'section', name: 'ROOT', arg: '', items, place };
}

/** The value as written in the file. Messages use it, because evaluated Ruby may be a secret from Fluentd's environment. */
export function writtenText(value: ConfValue): string {
  if (typeof value === 'string') return value;
  return value.map((part) => (typeof part === 'string' ? part : `#{${part.ruby}}`)).join('');
}

export function joinParts(parts: readonly (string | Ruby)[]): ConfValue {
  return parts.every((part) => typeof part === 'string') ? parts.join('') : parts;
}

import { formatBytes } from '../text/units.ts';

// Another container may share the directory of the sockets, so posidle believes an answer only within these bounds.
const VERSION = 1;
/** 20,000 files take about 4 MB. */
export const LONGEST_ANSWER = 16 * 2 ** 20;
const DEEPEST = 12;
/** 20,000 files have about 200,000 fields. */
export const MOST_FIELDS = 400_000;
const MOST = 5_000;
const LONGEST_TEXT = 4_096;

export interface NotBelieved {
  readonly notBelieved: string;
}

/** The bound for all answers to one question together. */
export interface Bounds {
  fields: number;
}

class Unbelievable extends Error {}

type Fields = Readonly<Record<string, unknown>>;

/** One JSON object of an answer. Each method checks the type and the bound of a field. */
export class BoundedAnswer {
  readonly #fields: Fields;
  readonly #needsLists: boolean;

  /** `needsLists`: a missing list is an error. */
  constructor(fields: Fields, needsLists: boolean) {
    this.#fields = fields;
    this.#needsLists = needsLists;
  }

  has(name: string): boolean {
    return (this.#fields[name] ?? undefined) !== undefined;
  }

  is(name: string, value: boolean | string): boolean {
    return this.#fields[name] === value;
  }

  text(name: string): string {
    return words(this.#fields[name]);
  }

  maybeText(name: string): string | undefined {
    return this.has(name) ? this.text(name) : undefined;
  }

  number(name: string): number {
    const value = this.#fields[name];
    if (typeof value !== 'number' || !Number.isFinite(value))
      throw new Unbelievable('a number is missing in it');
    return value;
  }

  maybeNumber(name: string): number | undefined {
    return this.has(name) ? this.number(name) : undefined;
  }

  /** A missing number is 0, and so is a negative one: a buffer's count may fall below 0 (fluentd#5303). */
  count(name: string): number {
    return Math.max(0, this.maybeNumber(name) ?? 0);
  }

  list<One>(name: string, read: (item: BoundedAnswer) => One, most = MOST): readonly One[] {
    return this.#items(name, most).map((item) => read(new BoundedAnswer(object(item), true)));
  }

  texts(name: string): readonly string[] {
    return this.#items(name, MOST).map(words);
  }

  settings(name: string): Readonly<Record<string, boolean | number | string>> {
    const given = Object.entries(this.has(name) ? object(this.#fields[name]) : {}).filter(
      (pair): pair is [string, boolean | number | string] =>
        ['boolean', 'number', 'string'].includes(typeof pair[1]),
    );
    return Object.fromEntries(given.slice(0, 50));
  }

  #items(name: string, most: number): readonly unknown[] {
    const value = this.#fields[name];
    if (value === undefined && !this.#needsLists) return [];
    if (!Array.isArray(value)) throw new Unbelievable('a list is missing in it');
    if (value.length > most) throw new Unbelievable(`a list in it has more than ${most} items`);
    return value;
  }
}

function object(value: unknown): Fields {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new Unbelievable('an object is missing in it');
  return value as Fields;
}

function words(value: unknown): string {
  if (typeof value !== 'string') throw new Unbelievable('a text is missing in it');
  return value.slice(0, LONGEST_TEXT);
}

/** Parses an answer within all bounds. Refuses an unknown version and ignores unknown fields. */
export function parseBounded<Value extends object>(
  text: string,
  read: (fields: Fields) => Value,
  bounds: Bounds = { fields: MOST_FIELDS },
): Value | NotBelieved {
  try {
    if (text.length > LONGEST_ANSWER)
      throw new Unbelievable(`it is longer than ${formatBytes(LONGEST_ANSWER)}`);
    bounds.fields -= fieldsIn(text, bounds.fields);
    const fields = object(JSON.parse(text));
    const { v: version, error } = fields;
    if (version !== VERSION)
      throw new Unbelievable(`its version is ${JSON.stringify(version)?.slice(0, 20)}, not ${VERSION}`);
    if (typeof error === 'string' && !('pid' in fields)) throw new Unbelievable(words(error));
    return read(fields);
  } catch (error) {
    if (error instanceof Unbelievable) return { notBelieved: error.message };
    if (error instanceof SyntaxError) return { notBelieved: 'it is no JSON' };
    throw error;
  }
}

/** Counts before parsing, because JSON.parse takes memory for each bracket and comma. */
function fieldsIn(text: string, most: number): number {
  let depth = 0;
  let fields = 0;
  let isInText = false;
  for (let at = 0; at < text.length; at += 1) {
    const char = text[at];
    if (char === '"') isInText = !isInText;
    else if (isInText) {
      if (char === '\\') at += 1;
    } else if (char === '[' || char === '{') {
      depth += 1;
      fields += 1;
      if (depth > DEEPEST) throw new Unbelievable('it is nested too deeply');
    } else if (char === ']' || char === '}') depth -= 1;
    else if (char === ',') fields += 1;
    if (fields > most) throw new Unbelievable(`it has more than ${most} fields`);
  }
  return fields;
}

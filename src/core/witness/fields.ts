/** Reads the fields of JSON that anybody may have written. */

/** 20,000 followed files, all closed as the worker ends, and what was closed before. */
const LONGEST_LIST = 25_000;
const LONGEST_TEXT = 4_096;

export class Unbelievable extends Error {}

export type Fields = Readonly<Record<string, unknown>>;

export function object(value: unknown): Fields {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new Unbelievable('an object is missing in it');
  return value as Fields;
}

export function string(value: unknown): string {
  if (typeof value !== 'string') throw new Unbelievable('a text is missing in it');
  return value.slice(0, LONGEST_TEXT);
}

export function number(value: unknown): number {
  if (typeof value !== 'number' || !Number.isFinite(value))
    throw new Unbelievable('a number is missing in it');
  return value;
}

/** A missing number is 0, and so is a negative one: a buffer's count may fall below 0 (fluentd#5303). */
export function count(value: unknown): number {
  return Math.max(0, maybe(value, number) ?? 0);
}

export function maybe<Value>(value: unknown, read: (value: unknown) => Value): Value | undefined {
  return value === undefined || value === null ? undefined : read(value);
}

export function list<One>(value: unknown, read: (item: unknown) => One): readonly One[] {
  if (!Array.isArray(value)) throw new Unbelievable('a list is missing in it');
  if (value.length > LONGEST_LIST) throw new Unbelievable(`a list in it has more than ${LONGEST_LIST} items`);
  return value.map((item) => read(item));
}

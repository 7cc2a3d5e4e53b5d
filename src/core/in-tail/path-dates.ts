import type { Millis } from '../text/units.ts';

const DAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];
const MONTHS = 'January February March April May June July August September October November December'.split(
  ' ',
);
const DAY = 86_400_000;

/** The numeric directives, each with its width. */
const NUMBERS: Readonly<Record<string, readonly [width: number, of: (wall: Date) => number]>> = {
  Y: [4, (wall) => wall.getUTCFullYear()],
  y: [2, (wall) => wall.getUTCFullYear() % 100],
  m: [2, (wall) => wall.getUTCMonth() + 1],
  d: [2, (wall) => wall.getUTCDate()],
  j: [3, (wall) => Math.floor((wall.getTime() - Date.UTC(wall.getUTCFullYear(), 0, 1)) / DAY) + 1],
  H: [2, (wall) => wall.getUTCHours()],
  M: [2, (wall) => wall.getUTCMinutes()],
  S: [2, (wall) => wall.getUTCSeconds()],
};

const WORDS: Readonly<Record<string, (wall: Date) => string>> = {
  a: (wall) => DAYS[wall.getUTCDay()] ?? '',
  B: (wall) => MONTHS[wall.getUTCMonth()] ?? '',
  b: (wall) => (MONTHS[wall.getUTCMonth()] ?? '').slice(0, 3),
  F: (wall) => wall.toISOString().slice(0, 10),
  T: (wall) => wall.toISOString().slice(11, 19),
  '%': () => '%',
};

/** `%-m` is a month without its zero. */
const FILLED_IN = /%(-?)([YymdjHMS])|%([aBbFT%])/g;

/** Everything that Ruby's Time#strftime may take as a directive. */
const DIRECTIVE = /%[-0-9^#_:]*[EO]?[a-zA-Z%+]/g;

/** Fills in the dates of a path, as in_tail does with Time#strftime. The zone is a name (`Asia/Tokyo`), or `+09:00`, `+0900`, `+09`, or its minutes east. */
export function expandDates(pattern: string, instant: Millis, timeZone: string | number): string {
  if (!pattern.includes('%')) return pattern;
  const wall = wallClock(instant, timeZone);
  return pattern.replace(FILLED_IN, (_, minus: string, number: string | undefined, word: string) => {
    const [width, of] = NUMBERS[number ?? ''] ?? [];
    if (of === undefined) return WORDS[word]?.(wall) ?? '';
    return String(of(wall)).padStart(minus === '' ? (width ?? 0) : 0, '0');
  });
}

/** The directives that `expandDates` does not support. */
export function otherDirectives(pattern: string): string[] {
  return (pattern.match(DIRECTIVE) ?? []).filter((directive) => directive.replace(FILLED_IN, '') !== '');
}

/** A date whose UTC fields show the wall clock. The zone has the forms of `lib/fluent/timezone.rb`. */
function wallClock(instant: Millis, timeZone: string | number): Date {
  if (typeof timeZone === 'number') return new Date(instant + timeZone * 60_000);
  const [, sign, hours, minutes = 0] = /^([+-])(\d\d):?(\d\d)?$/.exec(timeZone) ?? [];
  // An unknown name throws. Fluentd does not start with one either (`validate!`).
  if (sign === undefined)
    return new Date(`${new Date(instant).toLocaleString('en-US', { timeZone, hourCycle: 'h23' })} UTC`);
  const minutesEast = (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes));
  return new Date(instant + minutesEast * 60_000);
}

import type { Millis } from '../text/units.ts';

/** Wall-clock fields at an instant in a time zone. */
interface Wall {
  readonly date: Date;
  readonly minutesEast: number;
  readonly zoneName: string;
}

type Field = (wall: Wall) => number;

interface Numeric {
  readonly field: Field;
  readonly width: number;
  readonly pad?: string;
}

const DAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];
const MONTHS = 'January February March April May June July August September October November December'.split(
  ' ',
);
const DAY = 86_400_000;

const year: Field = ({ date }) => date.getUTCFullYear();
const hour: Field = ({ date }) => date.getUTCHours();
const hour12: Field = (wall) => hour(wall) % 12 || 12;
const weekday: Field = ({ date }) => date.getUTCDay();
const dayOfYear: Field = ({ date }) =>
  Math.floor((date.getTime() - Date.UTC(date.getUTCFullYear(), 0, 1)) / DAY) + 1;

const NUMBERS: Readonly<Record<string, Numeric>> = {
  Y: { field: year, width: 0 },
  C: { field: (wall) => Math.floor(year(wall) / 100), width: 2 },
  y: { field: (wall) => year(wall) % 100, width: 2 },
  m: { field: ({ date }) => date.getUTCMonth() + 1, width: 2 },
  d: { field: ({ date }) => date.getUTCDate(), width: 2 },
  e: { field: ({ date }) => date.getUTCDate(), width: 2, pad: ' ' },
  j: { field: dayOfYear, width: 3 },
  H: { field: hour, width: 2 },
  k: { field: hour, width: 2, pad: ' ' },
  I: { field: hour12, width: 2 },
  l: { field: hour12, width: 2, pad: ' ' },
  M: { field: ({ date }) => date.getUTCMinutes(), width: 2 },
  S: { field: ({ date }) => date.getUTCSeconds(), width: 2 },
  u: { field: (wall) => weekday(wall) || 7, width: 1 },
  w: { field: weekday, width: 1 },
  G: { field: (wall) => isoWeek(wall).year, width: 4 },
  g: { field: (wall) => isoWeek(wall).year % 100, width: 2 },
  V: { field: (wall) => isoWeek(wall).week, width: 2 },
  U: { field: (wall) => Math.floor((dayOfYear(wall) + 6 - weekday(wall)) / 7), width: 2 },
  W: { field: (wall) => Math.floor((dayOfYear(wall) + 6 - ((weekday(wall) + 6) % 7)) / 7), width: 2 },
  s: { field: ({ date, minutesEast }) => Math.floor(date.getTime() / 1_000) - minutesEast * 60, width: 0 },
};

const WORDS: Readonly<Record<string, (wall: Wall) => string>> = {
  A: (wall) => DAYS[weekday(wall)] ?? '',
  a: (wall) => (DAYS[weekday(wall)] ?? '').slice(0, 3),
  B: ({ date }) => MONTHS[date.getUTCMonth()] ?? '',
  b: ({ date }) => (MONTHS[date.getUTCMonth()] ?? '').slice(0, 3),
  h: ({ date }) => (MONTHS[date.getUTCMonth()] ?? '').slice(0, 3),
  p: (wall) => (hour(wall) < 12 ? 'AM' : 'PM'),
  P: (wall) => (hour(wall) < 12 ? 'am' : 'pm'),
  Z: ({ zoneName }) => zoneName,
  n: () => '\n',
  t: () => '\t',
  '%': () => '%',
};

const COMPOUND: Readonly<Record<string, string>> = {
  c: '%a %b %e %H:%M:%S %Y',
  D: '%m/%d/%y',
  x: '%m/%d/%y',
  F: '%Y-%m-%d',
  v: '%e-%^b-%Y',
  X: '%H:%M:%S',
  T: '%H:%M:%S',
  R: '%H:%M',
  r: '%I:%M:%S %p',
};

const DIRECTIVE = /%([-0^#_]*)(\d*)(:{0,2})([EO]?)([a-zA-Z%])/g;

interface Directive {
  readonly flags: string;
  readonly width: number | undefined;
  readonly colons: number;
  readonly letter: string;
}

/** Ruby's Time#strftime at an instant; the zone is a name (`Asia/Tokyo`) or `+09:00`, `+0900`, `+09`. */
export function expandDates(pattern: string, instant: Millis, timeZone: string): string {
  if (!pattern.includes('%')) return pattern;
  return format(pattern, wallClock(instant, timeZone));
}

function format(pattern: string, wall: Wall): string {
  return pattern.replace(DIRECTIVE, (whole, flags: string, width: string, colons: string, ...rest) => {
    const directive: Directive = {
      flags,
      width: width === '' ? undefined : Math.min(Number(width), 1_024),
      colons: colons.length,
      letter: String(rest[1]),
    };
    return directiveText(directive, wall) ?? whole;
  });
}

function directiveText(directive: Directive, wall: Wall): string | undefined {
  const { letter, colons } = directive;
  if (letter === 'z') return padded(zone(wall, colons), { ...directive, pad: '0' });
  if (colons > 0) return undefined;
  const number = NUMBERS[letter];
  if (number !== undefined) return numberText(number, directive, wall);
  if (letter === 'L' || letter === 'N') return fraction(wall, directive.width ?? (letter === 'L' ? 3 : 9));
  const word = WORDS[letter]?.(wall) ?? (COMPOUND[letter] && format(COMPOUND[letter], wall));
  return word === undefined ? undefined : padded(changeCase(word, directive), { ...directive, pad: ' ' });
}

function numberText({ field, width, pad = '0' }: Numeric, directive: Directive, wall: Wall): string {
  const digits = String(field(wall));
  if (directive.flags.includes('-')) return digits;
  return padded(digits, { ...directive, width: directive.width ?? width, pad });
}

function padded(text: string, { flags, width = 0, pad }: Directive & { pad: string }): string {
  const filler = flags.includes('_') ? ' ' : flags.includes('0') ? '0' : pad;
  return text.padStart(width, filler);
}

function changeCase(word: string, { flags, letter }: Directive): string {
  if (flags.includes('#') && letter === 'p') return word.toLowerCase();
  return /[\^#]/.test(flags) ? word.toUpperCase() : word;
}

function fraction({ date }: Wall, digits: number): string {
  return String(date.getUTCMilliseconds()).padStart(3, '0').padEnd(digits, '0').slice(0, digits);
}

function zone({ minutesEast }: Wall, colons: number): string {
  const minutes = Math.abs(minutesEast);
  const parts = [Math.floor(minutes / 60), minutes % 60, ...(colons === 2 ? [0] : [])];
  const text = parts.map((part) => String(part).padStart(2, '0')).join(colons > 0 ? ':' : '');
  return (minutesEast < 0 ? '-' : '+') + text;
}

function isoWeek(wall: Wall): { year: number; week: number } {
  const { date } = wall;
  const thursday = new Date(date.getTime() + (3 - ((weekday(wall) + 6) % 7)) * DAY);
  const isoYear = thursday.getUTCFullYear();
  return { year: isoYear, week: Math.floor((thursday.getTime() - Date.UTC(isoYear, 0, 1)) / DAY / 7) + 1 };
}

function wallClock(instant: Millis, timeZone: string): Wall {
  const minutesEast = numericZone(timeZone) ?? namedZone(instant, timeZone);
  const zoneName = timeZone === 'UTC' ? 'UTC' : '';
  return { date: new Date(instant + minutesEast * 60_000), minutesEast, zoneName };
}

/** `lib/fluent/timezone.rb` takes these forms and names of the time zone database. */
function numericZone(timeZone: string): number | undefined {
  const match = /^([+-])(\d\d):?(\d\d)?$/.exec(timeZone);
  if (match === null) return undefined;
  return (match[1] === '-' ? -1 : 1) * (Number(match[2]) * 60 + Number(match[3] ?? 0));
}

function namedZone(instant: Millis, timeZone: string): number {
  const part = partsAt(instant, timeZone);
  const wall = Date.UTC(part('year'), part('month') - 1, part('day'), part('hour'), part('minute'));
  return wall / 60_000 - Math.floor(instant / 60_000);
}

function partsAt(instant: Millis, timeZone: string): (type: Intl.DateTimeFormatPartTypes) => number {
  const parts = zoneFormat(timeZone).formatToParts(new Date(instant));
  return (type) => Number(parts.find((part) => part.type === type)?.value);
}

function zoneFormat(timeZone: string): Intl.DateTimeFormat {
  const wanted: Intl.DateTimeFormatOptions = {
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    hourCycle: 'h23',
  };
  try {
    return new Intl.DateTimeFormat('en-US', { ...wanted, timeZone });
  } catch {
    return new Intl.DateTimeFormat('en-US', { ...wanted, timeZone: 'UTC' });
  }
}

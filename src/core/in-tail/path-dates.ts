import type { Millis } from '../text/units.ts';

const MONTHS = 'January February March April May June July August September October November December'.split(
  ' ',
);
const DAY = 86_400_000;

/** What each directive stands for. */
function fieldsOf(wall: Date): Readonly<Record<string, string | undefined>> {
  const [date, time] = wall.toISOString().split(/[T.]/);
  const [Y, m, d] = date?.split('-') ?? [];
  const [H, M, S] = time?.split(':') ?? [];
  const year = wall.getUTCFullYear();
  const dayOfYear = Math.floor((wall.getTime() - Date.UTC(year, 0, 1)) / DAY) + 1;
  const B = MONTHS[wall.getUTCMonth()];
  return {
    ...{ Y, y: Y?.slice(2), m, d, j: `${dayOfYear}`.padStart(3, '0'), H, M, S },
    ...{ a: wall.toUTCString().slice(0, 3), B, b: B?.slice(0, 3), F: date, T: time, '%': '%' },
  };
}

/** `%-m` is a month without its zero. */
const FILLED_IN = /%(?:-?[YymdjHMS]|[aBbFT%])/g;

/** Everything that Ruby's Time#strftime may take as a directive. */
const DIRECTIVE = /%[-0-9^#_:]*[EO]?[a-zA-Z%+]/g;

/** Fills in the dates of a path, as in_tail does with Time#strftime. The zone is a name (`Asia/Tokyo`), or `+09:00`, `+0900`, `+09`, or its minutes east. */
export function expandDates(pattern: string, instant: Millis, timeZone: string | number): string {
  if (!pattern.includes('%')) return pattern;
  const fields = fieldsOf(wallClock(instant, timeZone));
  return pattern.replace(FILLED_IN, (directive) => {
    const text = fields[directive.slice(-1)] ?? '';
    return directive.startsWith('%-') ? text.replace(/^0+(?=.)/, '') : text;
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

/** A span of time, or an instant on the host's monotonic clock, in milliseconds. */
export type Millis = number;

/** setTimeout treats a longer time as 1 ms. */
export const LONGEST_TIMER: Millis = 2 ** 31 - 1;

const DURATION = /^(\d+(?:\.\d+)?)(ms|s|m|h)$/;
const DURATION_UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };
const SIZE = /^(\d+(?:\.\d+)?)(B|[kKMGT]i?B)?$/;
const SIZE_POWERS = 'KMGT';

/** Parses `500ms`, `30s`, `5m`, `1h`; undefined for anything else. */
export function parseDuration(text: string): Millis | undefined {
  const match = DURATION.exec(text);
  return match === null ? undefined : Number(match[1]) * (DURATION_UNITS[match[2] ?? ''] ?? Number.NaN);
}

/** Writes a duration as `parseDuration` reads it: `500ms`, `2s`, `10m`. */
export function writeDuration(span: Millis): string {
  const found = Object.entries(DURATION_UNITS).findLast(
    ([, length]) => span >= length && span % length === 0,
  );
  return found === undefined ? `${span}ms` : `${span / found[1]}${found[0]}`;
}

/** Parses `4096`, `64KiB`, `10MB` to bytes; undefined for anything else. */
export function parseSize(text: string): number | undefined {
  const match = SIZE.exec(text);
  if (match === null) return undefined;
  const [, count, unit = 'B'] = match;
  const power = SIZE_POWERS.indexOf((unit[0] ?? '').toUpperCase()) + 1;
  return Math.round(Number(count) * (unit.includes('i') ? 1024 : 1000) ** power);
}

/** `/a.log`, `/a.log (and 13 more)`. */
export function andMore([first = '', ...others]: readonly string[]): string {
  return others.length === 0 ? first : `${first} (and ${others.length} more)`;
}

/** `0.3 s`, `42 s`, `5 min`, `5 min 3 s`, `2 h 10 min`. */
export function formatDuration(span: Millis): string {
  if (span < 9_950) return `${(span / 1_000).toFixed(1)} s`;
  const seconds = Math.round(span / 1_000);
  if (seconds < 120) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 120) return `${minutes} min${rest(seconds % 60, 's')}`;
  return `${Math.floor(minutes / 60)} h${rest(minutes % 60, 'min')}`;
}

function rest(count: number, unit: string): string {
  return count === 0 ? '' : ` ${count} ${unit}`;
}

/** `0s`, `42s`, `5m`, `3h`, `12d`: for a narrow column. */
export function formatAge(span: Millis): string {
  const seconds = Math.max(0, Math.floor(span / 1_000));
  if (seconds < 60) return `${seconds}s`;
  if (seconds < 3_600) return `${Math.floor(seconds / 60)}m`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3_600)}h`;
  return `${Math.floor(seconds / 86_400)}d`;
}

/** `0 B`, `512 B`, `12.4 MiB`. */
export function formatBytes(count: number): string {
  if (count < 1024) return `${count} B`;
  let power = 1;
  while (power < SIZE_POWERS.length && Number(inUnits(count, power)) >= 1024) power += 1;
  return `${inUnits(count, power)} ${SIZE_POWERS[power - 1]}iB`;
}

/** Rounds before the unit is chosen, so that `1024.0 KiB` never appears. */
function inUnits(count: number, power: number): string {
  return (count / 1024 ** power).toFixed(1);
}

/** `1 file`, `2 files`. */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

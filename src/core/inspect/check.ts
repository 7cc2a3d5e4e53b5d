import { counted, formatBytes, formatDuration, type Millis } from '../text/units.ts';
import { type Overview, summaryOf } from './overview.ts';

/** How much may be left, and how long a position may stand still while something is; undefined: any. */
export interface Limits {
  readonly lag: number | undefined;
  readonly age: Millis | undefined;
}

export interface Checked {
  readonly passed: boolean;
  /** One line. */
  readonly reason: string;
}

/** Whether no limit is exceeded, and nothing is unknown. */
export function check(found: Overview, limits: Limits): Checked {
  const summary = summaryOf(found);
  const unknown = whatIsUnknown(found);
  if (unknown !== undefined)
    return { passed: false, reason: unknown.length > 0 ? `${unknown}; ${summary}` : summary };
  const isTooMuch = limits.lag === 0 ? !found.caughtUp : found.totals.toRead > (limits.lag ?? Infinity);
  if (isTooMuch && found.totals.toRead === 0)
    return { passed: false, reason: `${summary}; in_tail has not turned to the new file yet` };
  if (isTooMuch) return { passed: false, reason: `${summary} (limit ${formatBytes(limits.lag ?? 0)})` };
  const still = limits.age === undefined ? undefined : longestStanding(found);
  if (still === undefined || limits.age === undefined || still.age <= limits.age)
    return { passed: true, reason: summary };
  return { passed: false, reason: `${summary}; ${standing(still)} (limit ${formatDuration(limits.age)})` };
}

/** Empty: the summary says it. */
function whatIsUnknown({ posFiles, totals, unlisted }: Overview): string | undefined {
  const broken = posFiles.find(({ error }) => error !== undefined);
  if (broken !== undefined) return `${broken.path}: ${broken.error}`;
  if (totals.unknown > 0 && totals.unknown === totals.left) return '';
  if (totals.unknown > 0) return `lag unknown for ${counted(totals.unknown, 'file')}`;
  return unlisted[0];
}

interface Standing {
  readonly path: string;
  /** Infinity: not known. */
  readonly age: Millis;
}

function standing({ path, age }: Standing): string {
  const span = age === Number.POSITIVE_INFINITY ? 'an unknown time' : formatDuration(age);
  return `${path} has not moved for ${span}`;
}

/** Of the files with something left, the one that has stood still for the longest time. */
function longestStanding({ posFiles }: Overview): Standing | undefined {
  let longest: { readonly age: Millis; readonly path: () => string } | undefined;
  for (const { entries } of posFiles) {
    for (let row = 0; row < entries.rows.count; row += 1) {
      if (!entries.isShown(row) || !(entries.lag(row) > 0) || entries.state(row) === 'partial-line') continue;
      const age = unlessNaN(entries.age(row));
      if (longest === undefined || age > longest.age) longest = { age, path: () => entries.rows.path(row) };
    }
  }
  return longest && { age: longest.age, path: longest.path() };
}

/** Through a pipe comes no age. */
function unlessNaN(age: Millis): Millis {
  return Number.isNaN(age) ? Number.POSITIVE_INFINITY : age;
}

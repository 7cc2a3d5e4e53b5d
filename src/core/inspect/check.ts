import { counted, formatBytes, formatDuration, type Millis } from '../text/units.ts';
import { type Found, filesIn } from './found.ts';
import { summaryOf } from './summary.ts';

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

/** Whether no more than that is left to read, and nothing is unknown. */
export function check(found: Found, { lag, age }: Limits): Checked {
  const summary = summaryOf(found);
  const failed = (reason: string) => ({ passed: false, reason });
  const unknown = whatIsUnknown(found);
  if (unknown !== undefined) return failed([unknown, summary].filter(Boolean).join('; '));
  if (found.totals.toRead > (lag ?? Infinity)) return failed(`${summary} (limit ${formatBytes(lag ?? 0)})`);
  const still = age === undefined ? undefined : longestStill(found);
  if (still === undefined || age === undefined || still.age <= age) return { passed: true, reason: summary };
  const span = Number.isFinite(still.age) ? formatDuration(still.age) : 'an unknown time';
  return failed(`${summary}; ${still.path} has not moved for ${span} (limit ${formatDuration(age)})`);
}

/** Empty: the summary says it. */
function whatIsUnknown({ posFiles, totals, unlisted }: Found): string | undefined {
  const broken = posFiles.find(({ error }) => error !== undefined);
  if (broken !== undefined) return `${broken.path}: ${broken.error}`;
  if (totals.unknown > 0 && totals.unknown === totals.left) return '';
  if (totals.unknown > 0) return `lag unknown for ${counted(totals.unknown, 'file')}`;
  return unlisted[0];
}

/** Of the files with something to read, the one that has stood still for the longest time. */
function longestStill(found: Found): { readonly path: string; readonly age: Millis } | undefined {
  const unread = filesIn(found).filter(({ read }) => !read);
  const [first] = unread.toSorted((a, b) => a.movedAt - b.movedAt);
  return first && { path: first.path, age: found.at - first.movedAt };
}

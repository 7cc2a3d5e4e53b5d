import { setTimeout as pause } from 'node:timers/promises';
import { type Checked, check, type Limits } from '../../core/inspect/check.ts';
import { placesOf } from '../../core/inspect/order.ts';
import { type Overview, type Place, summaryOf } from '../../core/inspect/overview.ts';
import type { ShownEntry } from '../../core/inspect/rows.ts';
import { printable } from '../../core/text/printable.ts';
import { counted, formatBytes, formatDuration, type Millis } from '../../core/text/units.ts';
import { Ending, ProgressLine } from '../../node/output/terminal.ts';
import type { Inspector } from '../../tasks/inspect-look.ts';

export interface Wait {
  readonly limits: Limits;
  readonly interval: Millis;
  readonly atMost: Millis;
}

/** Looks until the check passes, or the time is over. What went away unread meanwhile can no longer be read. */
export async function waitUntilRead(
  inspector: Inspector,
  { limits, interval, atMost }: Wait,
): Promise<Checked & { readonly found: Overview }> {
  const ending = new Ending();
  const progress = new ProgressLine();
  const start = performance.now();
  for (;;) {
    const found = await inspector.look();
    const { passed, reason } = check(found, limits);
    const spent = performance.now() - start;
    if (passed || ending.isWanted || spent >= atMost) {
      progress.wipe();
      const isAll = passed && (found.lost ?? []).length === 0;
      return { passed: isAll, reason: `${reason}, after ${formatDuration(spent)}`, found };
    }
    progress.tell(() => summaryOf(found));
    await ending.orEnd(pause(Math.min(interval, atMost - spent)));
  }
}

const MOST_LEFT = 20;

/** Fluentd never emits an unfinished last line. */
function isLeft({ posFile: { entries }, row }: Place): boolean {
  return entries.lag(row) !== 0 && entries.state(row) !== 'partial-line';
}

/** What is left, the worst first: an entry a line. */
export function leftLines(found: Overview): readonly string[] {
  const undiscovered = found.undiscovered.filter(({ size }) => size > 0);
  const places = placesOf(found, { states: undefined, sort: 'lag' }).filter(isLeft);
  const lines = [
    ...undiscovered.map(({ path, size }) => textOf({ path, state: 'undiscovered', lag: size })),
    ...places.slice(0, MOST_LEFT).map(({ posFile, row }) => textOf(posFile.entries.at(row))),
  ];
  const more = undiscovered.length + places.length - MOST_LEFT;
  return more > 0 ? [...lines.slice(0, MOST_LEFT), `and ${counted(more, 'more file')}`] : lines;
}

/** `/a.log is behind, 4 B left`. */
function textOf({ path, lag, state }: Pick<ShownEntry, 'path' | 'lag' | 'state'>): string {
  return `${printable(path)} is ${state}, ${lag === null ? 'lag unknown' : `${formatBytes(lag)} left`}`;
}

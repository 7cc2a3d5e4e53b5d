import { setTimeout as pause } from 'node:timers/promises';
import type { Checked } from '../../core/inspect/check.ts';
import type { Found } from '../../core/inspect/found.ts';
import { summaryOf } from '../../core/inspect/summary.ts';
import { formatDuration, type Millis } from '../../core/text/units.ts';
import { Ending, ProgressLine } from '../../node/output/terminal.ts';
import type { Inspector } from '../../tasks/inspect-look.ts';

export interface Wait {
  readonly interval: Millis;
  readonly atMost: Millis;
}

/** Looks until nothing is left that waiting helps, or the time is over. */
export async function waitUntilRead(
  inspector: Inspector,
  { interval, atMost }: Wait,
): Promise<Checked & { readonly found: Found }> {
  const ending = new Ending();
  const progress = new ProgressLine();
  const start = performance.now();
  for (;;) {
    const found = await inspector.look();
    const why = found.judged?.waitsFor;
    const spent = performance.now() - start;
    if (why === undefined || ending.isWanted || spent >= atMost) {
      progress.wipe();
      const reason = `${summaryOf(found)}, after ${formatDuration(spent)}${why === undefined ? '' : `; ${why}`}`;
      return { passed: why === undefined, reason, found };
    }
    progress.tell(() => summaryOf(found));
    await ending.orEnd(pause(Math.min(interval, atMost - spent)));
  }
}

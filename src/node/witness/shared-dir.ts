import { existsSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Millis } from '../../core/text/units.ts';
import { SHARED_DIR } from '../../core/witness/load.ts';

/** The directory that posidle and Fluentd share: POSIDLE_DIR, else /posidle if it exists. */
export function sharedDir(): string | undefined {
  return process.env['POSIDLE_DIR'] || (existsSync(SHARED_DIR) ? SHARED_DIR : undefined);
}

/** How long before Node's start the preStop hook of posidle's container marked the Pod's end (docker/image/asleep); undefined if it did not. */
export async function endingFor(dir: string): Promise<Millis | undefined> {
  const mark = await stat(join(dir, 'ending')).catch(() => undefined);
  return mark && Math.max(0, performance.timeOrigin - mark.mtimeMs);
}

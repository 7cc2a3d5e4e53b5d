import { setTimeout as pause } from 'node:timers/promises';
import { formatDuration, type Millis } from '../core/text/units.ts';
import { CommandError } from './usage-error.ts';

const START_PATIENCE: Millis = 10_000;

/** Ends the command if fluent.conf and the pos files are not found in time: a dead mount never answers. */
export async function inTime<Found>(work: Promise<Found>, code: number): Promise<Found> {
  const late = pause(START_PATIENCE, undefined, { ref: false }).then(() => {
    const why = `fluent.conf and the pos files were not found within ${formatDuration(START_PATIENCE)}`;
    throw new CommandError(`${why}: a mount does not answer, or the machine is very busy`, code);
  });
  return await Promise.race([work, late]);
}

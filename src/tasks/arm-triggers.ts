import type { Policy } from '../core/drain/policy.ts';
import { formatDuration, type Millis } from '../core/text/units.ts';
import { DoneFile, HeartbeatFile, podStart, type TriggerFile } from '../node/files/trigger-files.ts';
import type { WatchOptions } from './watch-options.ts';

/** Main may refresh its file as rarely as this. */
const HEARTBEAT_AGE: Millis = 15_000;

/** What begins the drain without a call or a signal: one text for each trigger. */
export function armedBy(options: WatchOptions, { quiet, doneProcessGone }: Policy): readonly string[] {
  const { doneFile, doneProcess, heartbeatFile, mainGone = HEARTBEAT_AGE } = options;
  const gone = formatDuration(doneProcessGone);
  const still = formatDuration(mainGone);
  const armed: string[] = [];
  if (quiet !== 'off') armed.push(`nothing has moved for ${formatDuration(quiet)}`);
  if (doneFile !== undefined) armed.push(`${doneFile} exists`);
  if (doneProcess !== undefined) armed.push(`main's process (${doneProcess}) has been gone for ${gone}`);
  if (heartbeatFile !== undefined) armed.push(`${heartbeatFile} has not been refreshed for ${still}`);
  return armed;
}

/** The files by which main says that it has ended. */
export function openTriggers(
  { doneFile, heartbeatFile: path, mainGone: age = HEARTBEAT_AGE }: WatchOptions,
  { startTimeout }: Policy,
  warn: (text: string) => void,
): TriggerFile[] {
  const triggers: TriggerFile[] = [];
  if (doneFile !== undefined) triggers.push(new DoneFile(doneFile, podStart(), warn));
  if (path !== undefined)
    triggers.push(new HeartbeatFile({ path, age, podStart: podStart(), startTimeout, warn }));
  return triggers;
}

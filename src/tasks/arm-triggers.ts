import { DEFAULT_POLICY, type Policy } from '../core/drain/policy.ts';
import { formatDuration, type Millis } from '../core/text/units.ts';
import { DoneFile, HeartbeatFile, podStart, type TriggerFile } from '../node/files/trigger-files.ts';

/** Main may refresh its file as rarely as this. */
const HEARTBEAT_AGE: Millis = 15_000;

export interface TriggerSettings extends Pick<Policy, 'quiet' | 'startTimeout'> {
  readonly doneFile?: string | undefined;
  /** A part of the command line of main's process. The drain begins when it is gone. */
  readonly doneProcess?: string | undefined;
  /** Main refreshes it while it runs. The drain begins when it no longer does. */
  readonly heartbeatFile?: string | undefined;
  /** How long main's process must be gone, or its heartbeat file stay as it is. Each has its own default. */
  readonly mainGone?: Millis | undefined;
}

/** What begins the drain without a call or a signal: one text for each trigger. */
export function armedBy(settings: TriggerSettings): readonly string[] {
  const { quiet, doneFile, doneProcess, heartbeatFile, mainGone } = settings;
  const gone = formatDuration(mainGone ?? DEFAULT_POLICY.doneProcessGone);
  const still = formatDuration(mainGone ?? HEARTBEAT_AGE);
  const armed: string[] = [];
  if (quiet !== 'off') armed.push(`nothing has moved for ${formatDuration(quiet)}`);
  if (doneFile !== undefined) armed.push(`${doneFile} exists`);
  if (doneProcess !== undefined) armed.push(`main's process (${doneProcess}) has been gone for ${gone}`);
  if (heartbeatFile !== undefined) armed.push(`${heartbeatFile} has not been refreshed for ${still}`);
  return armed;
}

/** The files by which main says that it has ended. */
export function openTriggers(settings: TriggerSettings, warn: (text: string) => void): TriggerFile[] {
  const { doneFile, heartbeatFile: path, mainGone: age = HEARTBEAT_AGE, startTimeout } = settings;
  const triggers: TriggerFile[] = [];
  if (doneFile !== undefined) triggers.push(new DoneFile(doneFile, podStart(), warn));
  if (path !== undefined)
    triggers.push(new HeartbeatFile({ path, age, podStart: podStart(), startTimeout, warn }));
  return triggers;
}

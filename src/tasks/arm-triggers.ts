import { DEFAULT_POLICY, type Policy } from '../core/drain/policy.ts';
import { formatDuration, type Millis } from '../core/text/units.ts';
import { DoneFile, HeartbeatFile, podStart } from '../node/files/trigger-files.ts';
import type { TriggerFile } from '../node/node-host.ts';

/** Main may refresh its file as rarely as this. */
const HEARTBEAT_AGE: Millis = 15_000;

export interface TriggerSettings extends Pick<Policy, 'quiet' | 'startTimeout'> {
  readonly doneFile: string | undefined;
  /** Matches the command line of main's process. The drain begins when it is gone. */
  readonly doneProcess: RegExp | undefined;
  /** Main refreshes it while it runs. The drain begins when it no longer does. */
  readonly heartbeatFile: string | undefined;
  /** How long main's process must be gone, or its heartbeat file stay as it is. Each has its own default. */
  readonly mainGone: Millis | undefined;
}

interface TriggerRow {
  readonly option: keyof TriggerSettings;
  /** Completes "the drain begins when …". */
  readonly when: (settings: TriggerSettings) => string;
  /** What the trigger asks the file system at each look. Without `open` the loop itself sees the trigger. */
  readonly open?: (settings: TriggerSettings, warn: (text: string) => void) => TriggerFile;
}

/** All triggers except signals and HTTP. A new trigger is a row here. */
const TRIGGERS: readonly TriggerRow[] = [
  {
    option: 'quiet',
    when: ({ quiet }) => `nothing has moved for ${formatDuration(Number(quiet))}`,
  },
  {
    option: 'doneFile',
    when: ({ doneFile }) => `${doneFile} exists`,
    open: ({ doneFile = '' }, warn) => {
      const file = new DoneFile(doneFile, podStart());
      if (file.isOld)
        warn(`--done-file: ${doneFile} is older than this Pod. It does not count until main touches it`);
      return { by: 'done-file', look: () => file.look() };
    },
  },
  {
    option: 'doneProcess',
    when: ({ doneProcess, mainGone = DEFAULT_POLICY.doneProcessGone }) =>
      `main's process (/${doneProcess?.source}/) has been gone for ${formatDuration(mainGone)}`,
  },
  {
    option: 'heartbeatFile',
    when: ({ heartbeatFile: path, mainGone = HEARTBEAT_AGE }) =>
      `${path} has not been refreshed for ${formatDuration(mainGone)}`,
    open: (settings, warn) => {
      const { heartbeatFile: path = '', mainGone: age = HEARTBEAT_AGE, startTimeout } = settings;
      const file = new HeartbeatFile({ path, age, podStart: podStart(), startTimeout, warn });
      return { by: 'heartbeat', look: () => file.look(), mayGo: true };
    },
  },
];

type Given = { readonly [Key in keyof TriggerSettings]?: TriggerSettings[Key] | undefined };

function armedIn(settings: Given): readonly TriggerRow[] {
  return TRIGGERS.filter(({ option }) => settings[option] !== undefined && settings[option] !== 'off');
}

/** Whether a trigger other than quiet is armed. */
export function hasCertainTrigger(options: Given): boolean {
  return armedIn(options).some(({ option }) => option !== 'quiet');
}

/** What begins the drain without a call or a signal: one text for each trigger. */
export function armedBy(settings: TriggerSettings): readonly string[] {
  return armedIn(settings).map(({ when }) => when(settings));
}

/** The files of all armed triggers. */
export function openTriggers(settings: TriggerSettings, warn: (text: string) => void): TriggerFile[] {
  return armedIn(settings).flatMap(({ open }) => open?.(settings, warn) ?? []);
}

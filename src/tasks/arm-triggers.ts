import type { Policy } from '../core/drain/policy.ts';
import type { DrainRequest } from '../core/progress/drain-request.ts';
import { formatDuration, type Millis } from '../core/text/units.ts';
import { DoneFile, HeartbeatFile, podStart } from '../node/files/trigger-files.ts';

export interface TriggerSettings extends Pick<Policy, 'quiet' | 'startTimeout' | 'doneProcessGone'> {
  readonly doneFile: string | undefined;
  /** Matches the command line of main's process. The drain begins when it is gone. */
  readonly doneProcess: RegExp | undefined;
  /** Main refreshes it while it runs. The drain begins when it is older than `heartbeatAge`. */
  readonly heartbeatFile: string | undefined;
  readonly heartbeatAge: Millis;
  /** The drain begins when it aborts. */
  readonly signal: AbortSignal | undefined;
}

interface TriggerCalls {
  readonly request: (by: DrainRequest['by']) => void;
  readonly warn: (text: string) => void;
}

interface TriggerRow {
  readonly option: keyof TriggerSettings;
  /** Completes "the drain begins when …". */
  readonly when: (settings: TriggerSettings) => string;
  /** Starts to watch, and gives a function that stops it. Without `open` the loop itself sees the trigger. */
  readonly open?: (settings: TriggerSettings, calls: TriggerCalls) => () => void;
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
    open: ({ doneFile = '' }, { request, warn }) => {
      const file = new DoneFile(doneFile, () => request('done-file'), podStart());
      if (file.isOld)
        warn(`\`doneFile\`: ${doneFile} is older than this Pod. It does not count until main touches it`);
      return () => file.close();
    },
  },
  {
    option: 'doneProcess',
    when: ({ doneProcess, doneProcessGone }) =>
      `main's process (/${doneProcess?.source}/) has been gone for ${formatDuration(doneProcessGone)}`,
  },
  {
    option: 'heartbeatFile',
    when: ({ heartbeatFile: path, heartbeatAge }) =>
      `${path} has not been refreshed for ${formatDuration(heartbeatAge)}`,
    open: ({ heartbeatFile: path = '', heartbeatAge: age, startTimeout }, { request, warn }) => {
      const ended = () => request('heartbeat');
      const file = new HeartbeatFile({ path, age, startTimeout, ended, warn });
      return () => file.close();
    },
  },
  {
    option: 'signal',
    when: () => 'the caller aborts',
    open: ({ signal }, { request }) => {
      const abort = () => request('abort');
      if (signal?.aborted) abort();
      signal?.addEventListener('abort', abort, { once: true });
      return () => signal?.removeEventListener('abort', abort);
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

export interface Armed {
  /** One text for each trigger. */
  readonly when: readonly string[];
  /** A trigger is armed that needs no call or signal. */
  readonly byItself: boolean;
}

export function armedBy(settings: TriggerSettings): Armed {
  const armed = armedIn(settings);
  return {
    when: armed.map(({ when }) => when(settings)),
    byItself: armed.some(({ option }) => option !== 'signal'),
  };
}

/** Starts to watch for all armed triggers, and gives a function that stops it. */
export function openTriggers(settings: TriggerSettings, calls: TriggerCalls): () => void {
  const closes = armedIn(settings).map(({ open }) => open?.(settings, calls));
  return () => closes.forEach((close) => void close?.());
}

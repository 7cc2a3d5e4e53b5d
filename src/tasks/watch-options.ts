import { setFlagsFromString } from 'node:v8';
import { DEFAULT_POLICY, type Policy } from '../core/drain/policy.ts';
import type { FluentdTarget } from '../core/fluentd/processes.ts';
import { hasCertainTrigger, type TriggerSettings } from './arm-triggers.ts';
import { UsageError } from './usage-error.ts';

export interface Settings extends Omit<Policy, 'tail' | 'role' | 'doneProcess'>, TriggerSettings {
  /** The kubelet begins the drain and stops Fluentd, and starts again what ends before. */
  readonly nativeSidecar: boolean;
  /** Pos files or globs; none: those of `fluentConf`. */
  readonly posFiles: readonly string[];
  /** undefined: Fluentd's own, where it is found. */
  readonly fluentConf: string | undefined;
  /** Which Fluentd; a parent has its child. */
  readonly fluentd: Exclude<FluentdTarget, { by: 'session' }>;
  /** The directory of the witness in Fluentd; `off`: none. A parent makes its own. undefined: `POSIDLE_DIR`, or /posidle where it is there. */
  readonly witness: string | undefined;
}

export type WatchOptions = { readonly [Key in keyof Settings]?: Settings[Key] | undefined };

const { tail: _tail, role: _role, ...decisions } = DEFAULT_POLICY;

/** Quiet is a guess: it counts only where no other trigger is given. */
export const DEFAULTS: Settings = {
  ...decisions,
  posFiles: [],
  fluentConf: undefined,
  fluentd: { by: 'search' },
  nativeSidecar: false,
  doneFile: undefined,
  doneProcess: undefined,
  heartbeatFile: undefined,
  heartbeatAge: 15_000,
  witness: undefined,
  signal: undefined,
};

/** All settings; throws where an option is none of them. */
export function settingsOf(options: WatchOptions, isParent: boolean): Settings {
  const { fluentd, ...ofParent } = DEFAULTS;
  refuseUnknown(options, isParent ? ofParent : DEFAULTS);
  const given = Object.entries(options).filter(([, value]) => value !== undefined);
  // The kubelet's SIGTERM is the trigger.
  const hasTrigger = hasCertainTrigger(options) || options.nativeSidecar === true;
  const doneProcess = options.doneProcess && linear(options.doneProcess);
  return { ...DEFAULTS, ...(hasTrigger && { quiet: 'off' }), ...Object.fromEntries(given), doneProcess };
}

/**
 * The same regular expression, matched in time that grows with the text and no faster: whoever shares the process namespace chooses the
 * text. V8 has an engine for that behind a flag.
 */
export function linear(pattern: RegExp): RegExp {
  setFlagsFromString('--enable-experimental-regexp-engine');
  try {
    return new RegExp(pattern.source, `${pattern.flags.replace('l', '')}l`);
  } catch {
    throw new UsageError(
      `\`doneProcess\`: ${pattern} may take for ever on the command line of a neighbour. Leave out flags, (?=…), (?!…), back references and counts of hundreds`,
    );
  }
}

/** The settings as a policy, with the facts that no option tells. */
export function policyOf(settings: Settings, facts: Pick<Policy, 'tail' | 'role'>): Policy {
  const { posFiles, fluentConf, fluentd, witness, nativeSidecar, ...others } = settings;
  const { signal, doneFile, heartbeatFile, heartbeatAge, ...decisions } = others;
  const doneProcess = settings.doneProcess !== undefined;
  const sidecar = nativeSidecar && ({ restartPolicy: 'always' } as const);
  return { ...decisions, ...facts, doneProcess, ...sidecar };
}

/** A misspelt option would be ignored. */
export function refuseUnknown(options: object, known: object): void {
  const unknown = Object.keys(options).filter((key) => !Object.hasOwn(known, key));
  if (unknown.length > 0) {
    throw new TypeError(`no such option: ${unknown.join(', ')}; there are ${Object.keys(known).join(', ')}`);
  }
}

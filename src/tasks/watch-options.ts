import { setFlagsFromString } from 'node:v8';
import { DEFAULT_POLICY, type Policy } from '../core/drain/policy.ts';
import type { FluentdTarget } from '../core/progress/fluentd-reading.ts';
import { hasCertainTrigger, type TriggerSettings } from './arm-triggers.ts';
import { UsageError } from './usage-error.ts';

export interface Settings extends Omit<Policy, 'tail' | 'role' | 'doneProcess'>, TriggerSettings {
  /** Pos files or globs. If empty: those of `fluentConf`. */
  readonly posFiles: readonly string[];
  /** If undefined, posidle looks for Fluentd's own. */
  readonly fluentConf: string | undefined;
  /** A parent watches its child instead. */
  readonly fluentd: Exclude<FluentdTarget, { by: 'session' }>;
  /** The directory of the witness, or `off`. The default is `POSIDLE_DIR`, else /posidle if it exists; a parent makes its own. */
  readonly witness: string | undefined;
}

export type WatchOptions = { readonly [Key in keyof Settings]?: Settings[Key] | undefined };

const { tail: _tail, role: _role, ...decisions } = DEFAULT_POLICY;

/** `quiet` is a guess, so its default applies only without another trigger. */
export const DEFAULTS: Settings = {
  ...decisions,
  posFiles: [],
  fluentConf: undefined,
  fluentd: { by: 'search' },
  doneFile: undefined,
  doneProcess: undefined,
  heartbeatFile: undefined,
  heartbeatAge: 15_000,
  witness: undefined,
  signal: undefined,
};

/** Adds the defaults. Throws if an option is unknown. */
export function settingsOf(options: WatchOptions, isParent: boolean): Settings {
  const { fluentd, ...ofParent } = DEFAULTS;
  refuseUnknown(options, isParent ? ofParent : DEFAULTS);
  const given = Object.entries(options).filter(([, value]) => value !== undefined);
  const doneProcess = options.doneProcess && linear(options.doneProcess);
  return {
    ...DEFAULTS,
    ...(hasCertainTrigger(options) && { quiet: 'off' }),
    ...Object.fromEntries(given),
    doneProcess,
  };
}

/**
 * The same regular expression with V8's experimental engine, which takes linear time: a neighbour in the process namespace chooses the
 * text. A shorter text is no remedy, because `(a+)+b` takes for ever on 40 characters. Throws a UsageError if that engine cannot run it.
 */
export function linear(pattern: RegExp): RegExp {
  // It only allows the flag `l`. All other regular expressions keep their engine.
  setFlagsFromString('--enable-experimental-regexp-engine');
  if (linearOrNone(/x/) === undefined)
    throw new UsageError(
      `\`doneProcess\`: Node ${process.versions.node} can no longer match in linear time, and the command line of a neighbour could stop posidle for ever. Use another trigger, or an older Node`,
    );
  const found = linearOrNone(pattern);
  if (found === undefined)
    throw new UsageError(
      `\`doneProcess\`: ${pattern} may take for ever on the command line of a neighbour. Leave out flags, (?=…), (?!…), back references and counts of hundreds`,
    );
  return found;
}

function linearOrNone({ source, flags }: RegExp): RegExp | undefined {
  try {
    return new RegExp(source, `${flags.replace('l', '')}l`);
  } catch {
    return undefined;
  }
}

/** Makes the policy from the settings and from facts that are no options. */
export function policyOf(settings: Settings, facts: Pick<Policy, 'tail' | 'role'>): Policy {
  const { posFiles, fluentConf, fluentd, witness, ...others } = settings;
  const { signal, doneFile, heartbeatFile, heartbeatAge, ...decisions } = others;
  return { ...decisions, ...facts, doneProcess: settings.doneProcess !== undefined };
}

/** Throws a TypeError for an unknown option, so that a misspelt one is not ignored. */
export function refuseUnknown(options: object, known: object): void {
  const unknown = Object.keys(options).filter((key) => !Object.hasOwn(known, key));
  if (unknown.length > 0) {
    throw new TypeError(`no such option: ${unknown.join(', ')}; there are ${Object.keys(known).join(', ')}`);
  }
}

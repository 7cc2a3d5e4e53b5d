import { DEFAULT_POLICY, type Policy } from '../core/drain/policy.ts';
import type { TriggerSettings } from './arm-triggers.ts';

type Durations = 'quiet' | 'startTimeout' | 'drainTimeout' | 'stopTimeout' | 'grace';

export interface Settings extends TriggerSettings, Pick<Policy, Durations | 'podEnds'> {
  /** Pos files or globs. If none: those of `fluentConf`. */
  readonly posFiles?: readonly string[] | undefined;
  /** If undefined, posidle looks for Fluentd's own. */
  readonly fluentConf?: string | undefined;
  /** The directory of the witness, or `off`. The default is `POSIDLE_DIR`, else /posidle if it exists; a parent makes its own. */
  readonly witness?: string | undefined;
}

export type WatchOptions = { readonly [Key in keyof Settings]?: Settings[Key] | undefined };

/** Adds the defaults. `quiet` is a guess, so its default applies only without another trigger. */
export function settingsOf(options: WatchOptions): Settings {
  const { doneFile, doneProcess, heartbeatFile } = options;
  const hasOther = (doneFile ?? doneProcess ?? heartbeatFile) !== undefined;
  const given = Object.entries(options).filter(([, value]) => value !== undefined);
  const byDefault = { ...DEFAULT_POLICY, ...(hasOther && { quiet: 'off' as const }), doneProcess: undefined };
  return { ...byDefault, ...Object.fromEntries(given) };
}

export function policyOf(settings: Settings, facts: Pick<Policy, 'tail' | 'role'>): Policy {
  const { quiet, startTimeout, drainTimeout, grace, stopTimeout, podEnds, doneProcess, mainGone } = settings;
  return {
    ...DEFAULT_POLICY,
    ...{ quiet, startTimeout, drainTimeout, grace, stopTimeout, podEnds, ...facts },
    doneProcess: doneProcess !== undefined,
    doneProcessGone: mainGone ?? DEFAULT_POLICY.doneProcessGone,
  };
}

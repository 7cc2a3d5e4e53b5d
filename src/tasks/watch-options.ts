import { DEFAULT_POLICY, type Policy } from '../core/drain/policy.ts';
import type { FluentConf } from '../core/fluent-conf/fluent-conf.ts';
import { tailFacts } from '../core/fluent-conf/tail.ts';
import type { Role } from '../core/progress/limits.ts';
import type { Millis } from '../core/text/units.ts';

type Decided = 'startTimeout' | 'drainTimeout' | 'stopTimeout' | 'grace' | 'podEnds';

export interface WatchOptions extends Partial<Pick<Policy, Decided>> {
  /** Pos files or globs. If none: those of `fluentConf`. */
  readonly posFiles?: readonly string[] | undefined;
  /** If undefined, posidle looks for Fluentd's own. */
  readonly fluentConf?: string | undefined;
  /** The directory of the witness, or `off`. The default is `POSIDLE_DIR`, else /posidle if it exists; a parent makes its own. */
  readonly witness?: string | undefined;
  readonly quiet?: Policy['quiet'] | undefined;
  readonly doneFile?: string | undefined;
  /** A part of the command line of main's process. The drain begins when it is gone. */
  readonly doneProcess?: string | undefined;
  /** Main refreshes it while it runs. The drain begins when it no longer does. */
  readonly heartbeatFile?: string | undefined;
  /** How long main's process must be gone, or its heartbeat file stay as it is. Each has its own default. */
  readonly mainGone?: Millis | undefined;
}

export function policyOf(options: WatchOptions, conf: FluentConf | undefined, role: Role): Policy {
  const { startTimeout, drainTimeout, stopTimeout, grace, podEnds } = { ...DEFAULT_POLICY, ...options };
  const { quiet = usualQuiet(options, conf), doneFile, doneProcess, mainGone } = options;
  return {
    ...DEFAULT_POLICY,
    ...{ quiet, startTimeout, drainTimeout, stopTimeout, grace, podEnds, role },
    tail: tailFacts(conf?.sources),
    hasDoneFile: doneFile !== undefined,
    doneProcess: doneProcess !== undefined,
    doneProcessGone: mainGone ?? DEFAULT_POLICY.doneProcessGone,
  };
}

/** Silence is a guess, so it counts only without another trigger. in_tail must have time to find a new file, and then to read a renamed one to its end. */
function usualQuiet(options: WatchOptions, conf: FluentConf | undefined): Policy['quiet'] {
  const { doneFile, doneProcess, heartbeatFile } = options;
  if ((doneFile ?? doneProcess ?? heartbeatFile) !== undefined) return 'off';
  if (conf === undefined) return DEFAULT_POLICY.quiet;
  const { refreshInterval, rotateWait } = tailFacts(conf.sources);
  return Math.max(DEFAULT_POLICY.quiet, refreshInterval + rotateWait);
}

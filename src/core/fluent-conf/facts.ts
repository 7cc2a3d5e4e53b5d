import type { Millis } from '../text/units.ts';
import { problemText } from './element.ts';
import type { FluentConf } from './fluent-conf.ts';
import type { TailSource } from './tail.ts';

export type ConfFacts = Readonly<ReturnType<typeof confFacts>>;

/** A problem with one of these, or with the syntax or a file as a whole, may hide a source. */
const HIDING = '@include @type type pos_file workers config_include_dir'.split(' ');

export function confFacts({ sources, buffers, system, problems }: FluentConf) {
  const hiding = problems.filter(({ parameter }) => parameter === undefined || HIDING.includes(parameter));
  return {
    sources,
    buffers,
    backupGlobs: backupGlobsIn(system.backupDir),
    /** Everything in the configuration could be evaluated. */
    complete: problems.length === 0,
    /** Why there may be in_tail sources, or pos files of them, that are not known. */
    hidden: hiding.map(problemText),
  };
}

/** Chunks that a destination refused (`backup` in buffer.rb), and file chunks at the retry limit since 1.19 (`evacuate_dir`). */
function backupGlobsIn(directory: string): readonly string[] {
  const base = directory.replace(/[\\[\]{}*?]/g, '\\$&');
  return [`${base}/backup/worker*/*/*.log`, `${base}/buffer/*/*.log`, `${base}/buffer/*/*.buf`];
}

/** How in_tail reads: the slowest of all sources. */
export interface TailFacts {
  readonly refreshInterval: Millis;
  readonly rotateWait: Millis;
  /** Bytes a second that in_tail reads of one file at most; 0: a <group> limits lines; undefined: no limit. */
  readonly readLimit: number | undefined;
  readonly multilineFlush: Millis;
}

/** in_tail's own defaults (lib/fluent/plugin/in_tail.rb). */
export const DEFAULT_TAIL: TailFacts = {
  refreshInterval: 60_000,
  rotateWait: 5_000,
  readLimit: undefined,
  multilineFlush: 0,
};

/** `conf` undefined: no configuration is known. */
export function tailFacts(conf: Pick<ConfFacts, 'sources'> | undefined): TailFacts {
  if (conf === undefined || conf.sources.length === 0) return DEFAULT_TAIL;
  const { sources } = conf;
  return {
    refreshInterval: Math.max(...sources.map(({ refreshInterval }) => refreshInterval)),
    rotateWait: Math.max(...sources.map(({ rotateWait }) => rotateWait)),
    readLimit: readLimitOf(sources),
    multilineFlush: Math.max(...sources.map(({ multilineFlush }) => multilineFlush)),
  };
}

/** The strictest limit. A <group> limits lines, and lines say nothing about bytes: 0 promises nothing. */
function readLimitOf(sources: readonly TailSource[]): number | undefined {
  const limits = sources.flatMap(({ hasGroup, readBytesLimitPerSecond }) =>
    hasGroup ? 0 : (readBytesLimitPerSecond ?? []),
  );
  return limits.length === 0 ? undefined : Math.min(...limits);
}

import { DEFAULT_TAIL, type TailFacts } from '../progress/limits.ts';
import { problemText } from './element.ts';
import type { FluentConf } from './fluent-conf.ts';

export type ConfFacts = Readonly<ReturnType<typeof confFacts>>;

/** A problem with one of these parameters, or with the syntax or a whole file, may hide an in_tail source. */
const HIDING = '@include @type type pos_file workers config_include_dir'.split(' ');

export function confFacts({ sources, buffers, system, problems }: FluentConf) {
  const hiding = problems.filter(({ parameter }) => parameter === undefined || HIDING.includes(parameter));
  return {
    sources,
    buffers,
    backupGlobs: backupGlobsIn(system.backupDir),
    /** posidle could evaluate the whole configuration. */
    complete: problems.length === 0,
    /** Reasons why posidle may not know all in_tail sources or pos files. */
    hidden: hiding.map(problemText),
  };
}

/** Fluentd puts refused chunks there (`backup` in buffer.rb) and, since 1.19, file chunks at the retry limit (`evacuate_dir`). */
function backupGlobsIn(directory: string): readonly string[] {
  const base = directory.replace(/[\\[\]{}*?]/g, '\\$&');
  return [`${base}/backup/worker*/*/*.log`, `${base}/buffer/*/*.log`, `${base}/buffer/*/*.buf`];
}

export function tailFacts(conf: Pick<ConfFacts, 'sources'> | undefined): TailFacts {
  if (conf === undefined || conf.sources.length === 0) return DEFAULT_TAIL;
  const { sources } = conf;
  return {
    refreshInterval: Math.max(...sources.map(({ refreshInterval }) => refreshInterval)),
    rotateWait: Math.max(...sources.map(({ rotateWait }) => rotateWait)),
    multilineFlush: Math.max(...sources.map(({ multilineFlush }) => multilineFlush)),
  };
}

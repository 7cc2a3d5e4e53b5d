import { type ConfFacts, confFacts } from '../core/fluent-conf/facts.ts';
import type { TailSource } from '../core/fluent-conf/tail.ts';
import type { Subject } from '../core/look/subject.ts';
import type { Host } from '../host.ts';
import { nameUnder } from '../node/files/glob.ts';
import { type ConfWanted, type FoundConf, findConf, problemsOf } from './find-conf.ts';
import { UsageError } from './usage-error.ts';

/** What the user said about which Fluentd is meant. */
export interface Named extends ConfWanted {
  readonly posFiles: readonly string[];
}

export interface Found {
  readonly posFiles: readonly string[];
  readonly conf: ConfFacts | undefined;
  /** What the user should know of the configuration, a sentence each. */
  readonly warnings: readonly string[];
  readonly confPath: string | undefined;
}

/** The pos files and the configuration that are meant; throws where there is nothing to look at. */
export async function findSubject(host: Host, named: Named): Promise<Found> {
  const found = await findConf(host, named, process.env);
  if (named.posFiles.length === 0) return fromConf(found);
  if (found === undefined)
    return { posFiles: named.posFiles, conf: undefined, warnings: [], confPath: undefined };
  return besidePosFiles(named.posFiles, found);
}

/** The subject of a watch, as far as `found` allows. */
export function subjectFor<Wanted extends Pick<Subject, 'stopVia'>>(
  found: Found,
  wanted: Wanted,
): Wanted & Pick<Subject, 'posFiles' | 'conf'> {
  if (wanted.stopVia === 'rpc' && found.conf?.rpc === undefined) {
    throw new UsageError(
      '--stop-via rpc: no rpc_endpoint is known; set it in <system> of fluent.conf and give --fluent-conf',
    );
  }
  return { ...wanted, posFiles: found.posFiles, conf: found.conf };
}

function fromConf(found: FoundConf | undefined): Found {
  if (found === undefined) {
    throw new UsageError(
      "--pos-file: none given, and no fluent.conf found; name in_tail's pos_file, or give --fluent-conf",
    );
  }
  const { path, conf } = found;
  const posFiles = [...new Set(conf.sources.flatMap(({ posFile }) => posFile ?? []))];
  const problems = problemsOf(conf);
  if (posFiles.length === 0) {
    const why = problems.length > 0 ? problems.join('; ') : 'no in_tail source in it has a pos_file';
    throw new UsageError(`--fluent-conf: ${path}: ${why}; name the pos file with --pos-file`);
  }
  return { posFiles, conf: confFacts(conf), warnings: [...problems, ...conf.warnings], confPath: path };
}

/** A configuration that merely lies there counts only where it is that of the named pos files. */
async function besidePosFiles(posFiles: readonly string[], found: FoundConf): Promise<Found> {
  const { path, conf, isGiven } = found;
  const matched = await Promise.all(conf.sources.map((source) => underItsName(source, posFiles)));
  const sources = matched.filter((source) => source !== undefined);
  if (sources.length === 0 && !isGiven) {
    return { posFiles, conf: undefined, warnings: [], confPath: undefined };
  }
  const blind = `no in_tail of ${path} has the pos file ${posFiles.join(', ')}: its new files cannot be seen`;
  const warnings = [...problemsOf(conf), ...conf.warnings, ...(sources.length === 0 ? [blind] : [])];
  // Whoever names the pos files has named them all.
  return { posFiles, conf: { ...confFacts(conf), sources, hidden: [] }, warnings, confPath: path };
}

/** The source, its pos file called as the user calls it; one that could not be evaluated is the only one that was named. */
async function underItsName(source: TailSource, named: readonly string[]): Promise<TailSource | undefined> {
  const [only = ''] = named;
  if (source.posFile === undefined) return named.length === 1 ? { ...source, posFile: only } : undefined;
  for (const pattern of named) {
    const posFile = await nameUnder(pattern, source.posFile);
    if (posFile !== undefined) return { ...source, posFile };
  }
  return undefined;
}

import { resolve } from 'node:path';
import type { Policy } from '../core/policy.ts';
import { type ConfFacts, confFacts, type Subject } from '../core/subject.ts';
import type { Host } from '../host.ts';
import { type FoundConf, findConf, problemsOf } from './find-conf.ts';
import { UsageError } from './usage-error.ts';

/** What the user said about which Fluentd is meant. */
export interface Named {
  readonly posFiles: readonly string[];
  readonly fluentConf: string | undefined;
  /** Fluentd will run in posidle's own environment. */
  readonly ownEnvironment?: boolean;
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
export function subjectFor(found: Found, wanted: Omit<Subject, 'posFiles' | 'conf'>): Subject {
  if (wanted.stopVia === 'rpc' && found.conf?.rpc === undefined) {
    throw new UsageError(
      '--stop-via rpc: no rpc_endpoint is known; set it in <system> of fluent.conf and give --fluent-conf',
    );
  }
  return { ...wanted, posFiles: found.posFiles, conf: found.conf };
}

/** in_tail's own times, where they are known. */
export function withConf(policy: Policy, { conf }: Found): Policy {
  const sources = conf?.sources ?? [];
  if (sources.length === 0) return policy;
  return {
    ...policy,
    refreshInterval: Math.max(...sources.map(({ refreshInterval }) => refreshInterval)),
    rotateWait: Math.max(...sources.map(({ rotateWait }) => rotateWait)),
  };
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
function besidePosFiles(posFiles: readonly string[], found: FoundConf): Found {
  const { path, conf, isGiven } = found;
  const byPath = new Map(posFiles.map((posFile) => [resolve(posFile), posFile]));
  const sources = conf.sources.flatMap((source) => {
    const posFile = byPath.get(resolve(source.posFile ?? ''));
    return posFile === undefined ? [] : [{ ...source, posFile }];
  });
  if (sources.length === 0 && !isGiven)
    return { posFiles, conf: undefined, warnings: [], confPath: undefined };
  const warnings = [...problemsOf(conf), ...conf.warnings];
  return { posFiles, conf: { ...confFacts(conf), sources }, warnings, confPath: path };
}

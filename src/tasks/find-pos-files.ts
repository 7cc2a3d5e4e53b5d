import { problemText } from '../core/fluent-conf/element.ts';
import { type ConfFacts, confFacts } from '../core/fluent-conf/facts.ts';
import type { TailSource } from '../core/fluent-conf/tail.ts';
import type { Host } from '../host.ts';
import { nameUnder } from '../node/files/glob.ts';
import { type ConfWanted, type FoundConf, findConf } from './find-conf.ts';
import { UsageError } from './usage-error.ts';

export interface Wanted extends ConfWanted {
  /** None: those of the configuration. */
  readonly posFiles: readonly string[];
}

export interface Found {
  readonly posFiles: readonly string[];
  readonly conf: ConfFacts | undefined;
  /** What the user should know of the configuration, a sentence each. */
  readonly warnings: readonly string[];
  readonly confPath: string | undefined;
  /** The directory of the witness, where one is shared. */
  readonly witness?: string | undefined;
}

/** The pos files and the configuration that are meant; throws where there is nothing to look at. */
export async function findPosFiles(host: Host, wanted: Wanted): Promise<Found> {
  const { posFiles } = wanted;
  if (posFiles.includes('')) throw new UsageError('`posFiles`: the value is empty. Is a variable not set?');
  const found = await findConf(host, wanted, process.env);
  if (posFiles.length === 0) return fromConf(found);
  return found === undefined ? { posFiles, ...NO_CONF } : besidePosFiles(posFiles, found);
}

const NO_CONF = { conf: undefined, warnings: [], confPath: undefined };

function fromConf(found: FoundConf | undefined): Found {
  if (found === undefined) {
    throw new UsageError(
      "`posFiles`: none given, and no fluent.conf found; name in_tail's pos_file, or give `fluentConf`",
    );
  }
  const { path, conf } = found;
  const posFiles = [...new Set(conf.sources.flatMap(({ posFile }) => posFile ?? []))];
  const problems = conf.problems.map(problemText);
  if (posFiles.length === 0) {
    const why = problems.length > 0 ? problems.join('; ') : 'no in_tail source in it has a pos_file';
    throw new UsageError(`\`fluentConf\`: ${path}: ${why}; name the pos file with \`posFiles\``);
  }
  return { posFiles, conf: confFacts(conf), warnings: [...problems, ...conf.warnings], confPath: path };
}

/** A configuration that merely lies there counts only where it is that of the named pos files. */
async function besidePosFiles(posFiles: readonly string[], found: FoundConf): Promise<Found> {
  const { path, conf, isGiven } = found;
  const matched = await Promise.all(conf.sources.map((source) => underItsName(source, posFiles)));
  const sources = matched.filter((source) => source !== undefined);
  if (sources.length === 0 && !isGiven) return { posFiles, ...NO_CONF };
  const blind = `no in_tail source of ${path} has the pos file ${posFiles.join(', ')}. posidle cannot see its new files`;
  const warnings = [
    ...conf.problems.map(problemText),
    ...conf.warnings,
    ...(sources.length === 0 ? [blind] : []),
  ];
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

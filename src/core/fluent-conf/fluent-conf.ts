import { groupedBy } from '../text/lists.ts';
import { counted } from '../text/units.ts';
import { type BufferConf, buffersIn, type Surroundings } from './buffer-sections.ts';
import { type ConfItem, type ConfProblem, type ParsedConf, rootElement } from './element.ts';
import { type EvalContext, Params } from './params.ts';
import type { RubyContext } from './ruby.ts';
import { type TailSource, tailSource } from './tail.ts';

export interface FluentConf {
  readonly sources: readonly TailSource[];
  readonly buffers: readonly BufferConf[];
  readonly backupGlobs: readonly string[];
  /** What posidle could not read or evaluate. */
  readonly problems: readonly string[];
  /** Why there may be further in_tail sources or pos files. */
  readonly hidden: readonly string[];
  readonly warnings: readonly string[];
}

/** A problem with one of these parameters, or with the syntax or a whole file, may hide an in_tail source. */
const HIDING = '@include @type pos_file workers config_include_dir'.split(' ');
/** Each worker reads all sections, so a malicious number could keep posidle busy for ever. */
const MOST_WORKERS = 64;

/** Evaluates the configuration once for each worker, as Fluentd does. `workersGiven`: from Fluentd's command line, instead of `<system>`. */
export function fluentConf(parsed: ParsedConf, ruby: RubyContext, workersGiven?: string): FluentConf {
  const context: EvalContext = { ruby, problems: [...parsed.problems], warnings: [] };
  const root = new Params(parsed.root, context);
  const [system] = root.sections('system');
  const rootDir = system?.text('root_dir');
  const workers = Math.max(Number.parseInt(workersGiven ?? system?.text('workers') ?? '', 10) || 1, 1);
  const scopes = [...Array(Math.min(workers, MOST_WORKERS)).keys()].flatMap((workerId) => {
    const ofWorker = new Params(parsed.root, { ...context, ruby: { ...ruby, workerId } });
    return scopesOf(ofWorker, { rootDir, workerId, shared: workers > 1 });
  });
  if (workers > MOST_WORKERS)
    root.problem(
      `posidle reads the sections of ${MOST_WORKERS} workers, and there are ${workers}`,
      'workers',
    );
  const sources = scopes
    .flatMap(({ params }) => params.sections('source'))
    .filter((source) => source.text('@type') === 'tail')
    .map(tailSource);
  const buffers = scopes.flatMap(({ params, around }) => buffersIn(params, around));
  const problems = distinct(context.problems);
  const hiding = problems.filter(({ parameter }) => parameter === undefined || HIDING.includes(parameter));
  return {
    sources,
    buffers,
    backupGlobs: backupGlobsIn(rootDir ?? (ruby.env.FLUENT_BACKUP_DIR || '/tmp/fluent')),
    problems: told(problems),
    hidden: told(hiding),
    warnings: told(distinct(context.warnings)),
  };
}

/** The workers repeat each other. */
function distinct(problems: readonly ConfProblem[]): readonly ConfProblem[] {
  return [...new Map(problems.map((one) => [JSON.stringify(one), one])).values()];
}

/** A line for each reason: the first problem, and in how many more places there is another one. */
function told(problems: readonly ConfProblem[]): readonly string[] {
  const groups = groupedBy(problems, ({ why, text }) => why ?? text);
  return [...groups.values()].map(([{ place, text, why }, ...others]) => {
    const where = place.line === undefined ? place.file : `${place.file}:${place.line}`;
    const more = others.length > 0 ? ` and ${counted(others.length, 'more place')}` : '';
    return `${where}${more}: ${text}${why === undefined ? '' : `: ${why}`}`;
  });
}

/** Fluentd 1.19 and later load further files from this directory (DEFAULT_CONFIG_INCLUDE_DIR in lib/fluent/env.rb). Empty: from none. */
export function configIncludeDir(items: readonly ConfItem[], ruby: RubyContext): string | undefined {
  const root = new Params(rootElement(items, { file: '' }), { ruby, problems: [], warnings: [] });
  return root.sections('system')[0]?.text('config_include_dir') ?? ruby.env.FLUENT_CONF_INCLUDE_DIR;
}

/** Fluentd puts refused chunks there (`backup` in buffer.rb) and, since 1.19, file chunks at the retry limit (`evacuate_dir`). */
function backupGlobsIn(directory: string): readonly string[] {
  const base = directory.replace(/[\\[\]{}*?]/g, '\\$&');
  return [`${base}/backup/worker*/*/*.log`, `${base}/buffer/*/*.log`, `${base}/buffer/*/*.buf`];
}

/** The root and this worker's `<worker>` sections, in Fluentd's order. */
function scopesOf(root: Params, around: Surroundings) {
  const own = root.sections('worker').flatMap((params) => {
    const [, first, last = first] = /^(\d+)(?:-(\d+))?$/.exec(params.arg() ?? '') ?? [];
    if (first === undefined) params.problem('<worker> names no worker that posidle can read', 'workers');
    const isOwn = Number(first) <= around.workerId && around.workerId <= Number(last);
    return isOwn ? [{ params, around: { ...around, shared: first !== last } }] : [];
  });
  return [{ params: root, around }, ...own];
}

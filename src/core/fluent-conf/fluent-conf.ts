import { type BufferConf, buffersOf, type Surroundings } from './buffer-sections.ts';
import { type ConfElement, type ConfItem, rootElement, sectionsOf } from './element.ts';
import { type EvalContext, Params } from './params.ts';
import type { RubyContext } from './ruby.ts';
import { tailSource } from './tail.ts';

type SystemConf = Readonly<ReturnType<typeof readSystem>>;

export type FluentConf = Readonly<ReturnType<typeof fluentConf>>;

/** Evaluates the configuration once for each worker, as Fluentd does. `workersGiven`: from Fluentd's command line, instead of `<system>`. */
export function fluentConf(root: ConfElement, ruby: RubyContext, workersGiven?: number) {
  const context: EvalContext = { ruby, problems: [], warnings: [] };
  const system = readSystem(new Params(root, context), ruby, workersGiven);
  const workers = Array.from({ length: workersRead(root, system, context) }, (_, workerId) =>
    scopesOf(new Params(root, { ...context, ruby: { ...ruby, workerId } }), system, workerId),
  );
  return {
    sources: workers.flat().flatMap(tailsOf).map(tailSource),
    buffers: workers.flat().flatMap(buffersIn),
    system,
    problems: [...new Map(context.problems.map((one) => [JSON.stringify(one), one])).values()],
    warnings: [...new Set(context.warnings)],
  };
}

export function configIncludeDir(items: readonly ConfItem[], ruby: RubyContext): string | undefined {
  const root = new Params(rootElement(items, { file: '' }), { ruby, problems: [], warnings: [] });
  return readSystem(root, ruby).configIncludeDir;
}

const MAX_SECTIONS = 20_000;

/** Each worker reads all sections, so a malicious configuration could keep posidle busy for ever. */
function workersRead(root: ConfElement, { workers }: SystemConf, { problems }: EvalContext): number {
  const most = Math.max(1, Math.floor(MAX_SECTIONS / countSections(root)));
  if (workers <= most) return workers;
  const text = `there are ${workers} workers, and posidle reads the sections of only ${most}`;
  problems.push({ place: root.place, text, parameter: 'workers' });
  return most;
}

function countSections(element: ConfElement): number {
  return sectionsOf(element).reduce((sum, section) => sum + countSections(section), 1);
}

function readSystem(root: Params, { env }: RubyContext, workersGiven?: number) {
  const [system] = root.sections('system');
  return {
    workers: Math.max(workersGiven ?? system?.integer('workers') ?? 1, 1),
    rootDir: system?.text('root_dir'),
    /** For chunks that Fluentd gives up (DEFAULT_BACKUP_DIR in lib/fluent/env.rb). */
    backupDir: system?.text('root_dir') ?? (env.FLUENT_BACKUP_DIR || '/tmp/fluent'),
    /** Fluentd 1.19 and later load further files from this directory (DEFAULT_CONFIG_INCLUDE_DIR in lib/fluent/env.rb). Empty: from none. */
    configIncludeDir: system?.text('config_include_dir') ?? env.FLUENT_CONF_INCLUDE_DIR,
  };
}

interface Scope {
  readonly params: Params;
  readonly around: Surroundings;
}

/** The root and this worker's `<worker>` sections, in Fluentd's order. */
function scopesOf(root: Params, { workers, rootDir }: SystemConf, workerId: number): Scope[] {
  const around = (count: number): Surroundings => ({ rootDir, workerId, shared: count > 1 });
  const own = root.sections('worker').flatMap((params): Scope[] => {
    const [first, last] = targets(params);
    return first <= workerId && workerId <= last ? [{ params, around: around(last - first + 1) }] : [];
  });
  return [{ params: root, around: around(workers) }, ...own];
}

function targets(params: Params): [number, number] {
  const match = /^(\d+)(?:-(\d+))?$/.exec(params.arg() ?? '');
  if (match === null) params.problem('<worker> names no worker that posidle can read');
  return match === null ? [0, -1] : [Number(match[1]), Number(match[2] ?? match[1])];
}

function tailsOf({ params }: Scope): Params[] {
  return params.sections('source').filter((source) => source.text('@type', 'type') === 'tail');
}

function buffersIn({ params, around }: Scope): BufferConf[] {
  return [params, ...params.sections('label')]
    .flatMap((scope) => scope.sections('match'))
    .flatMap((section) => buffersOf(section, { ...around, match: section.writtenArg() || '**' }));
}

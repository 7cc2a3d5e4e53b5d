import { otherDirectives } from '../in-tail/path-dates.ts';
import { nameMatcher } from '../in-tail/path-glob.ts';
import type { PathRules } from '../in-tail/path-pattern.ts';
import { DEFAULT_TAIL, type TailFacts } from '../progress/limits.ts';
import type { Millis } from '../text/units.ts';
import { type Params, parseBool, parseList, parseTime } from './params.ts';

/** One in_tail source. Defaults are those of `lib/fluent/plugin/in_tail.rb`. */
export interface TailSource extends PathRules {
  /** May be relative to Fluentd's working directory. */
  readonly posFile?: string | undefined;
  readonly refreshInterval: Millis;
  readonly rotateWait: Millis;
  /** 0: not a multiline source, or its last record waits until Fluentd stops. */
  readonly multilineFlush: Millis;
  readonly followInodes: boolean;
}

/** The slowest of all sources. */
export function tailFacts(sources: readonly TailSource[] = []): TailFacts {
  if (sources.length === 0) return DEFAULT_TAIL;
  const most = (fact: (source: TailSource) => Millis) => Math.max(...sources.map(fact));
  return {
    refreshInterval: most(({ refreshInterval }) => refreshInterval),
    rotateWait: most(({ rotateWait }) => rotateWait),
    multilineFlush: most(({ multilineFlush }) => multilineFlush),
  };
}

/** An empty number counts as not given: so Fluentd prints a nil (`dump_value` in `lib/fluent/config/element.rb`). */
export function tailSource(params: Params): TailSource {
  const delimiter = params.text('path_delimiter') ?? ',';
  const parts = (params.text('path') ?? '').split(delimiter).map((part) => part.trim());
  const paths = [...new Set(parts)].filter((part) => part !== '');
  const excludePaths = parseList(params.text('exclude_path') ?? '');
  const others = new Set([...paths, ...excludePaths].flatMap(otherDirectives));
  for (const one of others)
    params.problem(
      `path or exclude_path has ${one}, which posidle does not fill in: write * instead`,
      'path',
    );
  const globPolicy = params.text('glob_policy');
  const age = params.text('limit_recently_modified');
  const posFile = params.text('pos_file') || undefined;
  warnOf(params);
  const matchesPosFile = (patterns: readonly string[]) => patterns.some((one) => fits(one, posFile ?? ''));
  if (matchesPosFile(paths) && !matchesPosFile(excludePaths)) params.warn(READS_ITSELF);
  return {
    posFile,
    // Empty: posidle does not know which files the source takes.
    paths: others.size === 0 ? paths : [],
    excludePaths,
    pathTimezone: params.text('path_timezone') || undefined,
    globPolicy: globPolicy === 'extended' || globPolicy === 'always' ? globPolicy : 'backward_compatible',
    refreshInterval: parseTime(params.text('refresh_interval') || '60'),
    limitRecentlyModified: age ? parseTime(age) : undefined,
    rotateWait: parseTime(params.text('rotate_wait') || '5'),
    multilineFlush: parseTime(params.text('multiline_flush_interval') || '0'),
    followInodes: parseBool(params.text('follow_inodes') ?? 'false'),
  };
}

const SKIPS =
  'in_tail without read_from_head true skips what a file held before Fluentd started, ' +
  'so a fast main loses lines unseen: set read_from_head true';
const STOPS_READING =
  'in_tail with <group> reads nothing more once Fluentd is told to stop, even below the limit: ' +
  'remove <group>, or let posidle drain before anything else stops Fluentd';
const NO_TRACE = 'in_tail without pos_file leaves no trace of what it has read: set pos_file';

const READS_ITSELF =
  "in_tail's path matches its own pos_file, too, so that it reads what it writes, without end: put the pos file elsewhere";

/** Whether a pattern without wildcards in its directory matches the path. */
function fits(pattern: string, path: string): boolean {
  const [at, end] = [pattern.lastIndexOf('/') + 1, path.lastIndexOf('/') + 1];
  return pattern.slice(0, at) === path.slice(0, end) && nameMatcher(pattern.slice(at))(path.slice(end));
}

function warnOf(params: Params): void {
  if (!params.isTrue('read_from_head')) params.warn(SKIPS);
  if (params.sections('group').length > 0) params.warn(STOPS_READING);
  if (!params.written('pos_file')) params.warn(NO_TRACE);
}

import { otherDirectives } from '../in-tail/path-dates.ts';
import type { GlobPolicy } from '../in-tail/path-pattern.ts';
import type { Millis } from '../text/units.ts';
import type { Place } from './element.ts';
import type { Params } from './params.ts';

/** One in_tail source, with the defaults of `lib/fluent/plugin/in_tail.rb`. */
export interface TailSource {
  readonly place: Place;
  /** May be relative to Fluentd's working directory. */
  readonly posFile?: string | undefined;
  /** Patterns, before their dates are filled in. */
  readonly paths: readonly string[];
  readonly excludePaths: readonly string[];
  readonly pathTimezone?: string | undefined;
  readonly globPolicy: GlobPolicy;
  readonly refreshInterval: Millis;
  readonly limitRecentlyModified?: Millis | undefined;
  readonly rotateWait: Millis;
  /** 0: no record waits, or one does until Fluentd stops. */
  readonly multilineFlush: Millis;
  readonly followInodes: boolean;
  readonly hasGroup: boolean;
  readonly readBytesLimitPerSecond?: number | undefined;
}

/** The quiet window that in_tail needs: it finds a new file, and then reads the one that was renamed to its end. */
export function quietNeededBy({ refreshInterval, rotateWait }: TailSource): Millis {
  return refreshInterval + rotateWait;
}

const MIN_BYTES_PER_SECOND = 8_192;

/** Reads one `<source>` whose type is tail. */
export function tailSource(params: Params): TailSource {
  const source = {
    place: params.element.place,
    posFile: params.text('pos_file') || undefined,
    ...tailPaths(params),
    ...tailTimes(params),
    ...tailReading(params),
  };
  warnOfLoss(params, source);
  return source;
}

function tailPaths(params: Params) {
  const delimiter = params.text('path_delimiter') ?? ',';
  const parts = (params.text('path') ?? '').split(delimiter).map((part) => part.trim());
  const paths = [...new Set(parts)].filter((part) => part !== '');
  const excludePaths = params.list('exclude_path');
  const isWhole = areFilledIn('path', paths, params) && areFilledIn('exclude_path', excludePaths, params);
  return {
    // Which files the source takes is then not known.
    paths: isWhole ? paths : [],
    excludePaths,
    pathTimezone: params.text('path_timezone') || undefined,
    globPolicy: globPolicy(params),
  };
}

function areFilledIn(name: string, patterns: readonly string[], params: Params): boolean {
  const others = new Set(patterns.flatMap(otherDirectives));
  for (const directive of others)
    params.problem(`${name} has ${directive}, which posidle does not fill in: write * instead`, name);
  return others.size === 0;
}

function globPolicy(params: Params): GlobPolicy {
  const policy = params.text('glob_policy');
  return policy === 'extended' || policy === 'always' ? policy : 'backward_compatible';
}

function tailTimes(params: Params) {
  return {
    refreshInterval: params.time('refresh_interval') ?? 60_000,
    limitRecentlyModified: params.time('limit_recently_modified'),
    rotateWait: params.time('rotate_wait') ?? 5_000,
    multilineFlush: params.time('multiline_flush_interval') ?? 0,
  };
}

function tailReading(params: Params) {
  const limit = params.size('read_bytes_limit_per_second') ?? -1;
  return {
    followInodes: params.bool('follow_inodes') ?? false,
    hasGroup: params.sections('group').length > 0,
    readBytesLimitPerSecond: limit > 0 ? Math.max(limit, MIN_BYTES_PER_SECOND) : undefined,
  };
}

function warnOfLoss(params: Params, source: TailSource): void {
  if (params.aside().bool('read_from_head') !== true) {
    params.warn(
      'in_tail without read_from_head true skips what a file held before Fluentd started, ' +
        'so a fast main loses lines unseen: set read_from_head true',
    );
  }
  if (source.hasGroup) {
    params.warn(
      'in_tail with <group> reads nothing more once Fluentd is told to stop, even below the limit: ' +
        'remove <group>, or let posidle drain before anything else stops Fluentd',
    );
  }
  if (source.posFile === undefined && !params.element.items.some(isPosFile)) {
    params.warn('in_tail without pos_file leaves no trace of what it has read: set pos_file');
  }
}

function isPosFile(item: Params['element']['items'][number]): boolean {
  return item.kind === 'param' && item.name === 'pos_file' && item.value !== '';
}

import { formatDuration, type Millis } from '../text/units.ts';
import { type BufferConf, buffersOf, type Surroundings } from './buffers.ts';
import { placeText } from './element.ts';
import type { Params } from './params.ts';
import type { TailSource } from './tail.ts';

/** The waits that are measured against what in_tail needs. */
export interface Waits {
  readonly quiet?: Millis | undefined;
  readonly grace?: Millis | undefined;
}

interface Sources {
  readonly sources: readonly TailSource[];
}

/** What may be missed where posidle waits for less time than in_tail takes to see a new file. */
export function quietWarnings(conf: Sources, waits: Waits): string[] {
  return conf.sources.flatMap((source) => [
    ...tooShort(source, '`quiet`', { wait: waits.quiet, needed: source.refreshInterval + source.rotateWait }),
    ...tooShort(source, '`grace`', { wait: waits.grace, needed: source.refreshInterval }),
  ]);
}

interface Wait {
  readonly wait: Millis | undefined;
  readonly needed: Millis;
}

function tooShort({ place, refreshInterval }: TailSource, option: string, { wait, needed }: Wait): string[] {
  if (wait === undefined || wait >= needed) return [];
  return [
    `${placeText(place)}: in_tail looks for new files every ${formatDuration(refreshInterval)}, so ${option} ` +
      `${formatDuration(wait)} can end before it sees one: set refresh_interval 5s, or ${option} ` +
      `${Math.ceil(needed / 1_000)}s.`,
  ];
}

/** The last record of a multiline source that has no flush interval comes out at the shutdown, too late for a file buffer. */
export function multilineWarnings(conf: Sources & { readonly buffers: readonly BufferConf[] }): string[] {
  const keeps = conf.buffers.some(({ type, flushAtShutdown }) => type !== 'memory' && !flushAtShutdown);
  return conf.sources
    .filter(
      ({ isMultiline, multilineFlushInterval }) =>
        keeps && isMultiline && multilineFlushInterval === undefined,
    )
    .map(
      ({ place }) =>
        `${placeText(place)}: the last record of a multiline source leaves in_tail when Fluentd stops, and then stays in a file buffer: ` +
        'set multiline_flush_interval 1s, or flush_at_shutdown true.',
    );
}

const OWN_TAGS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal'].map((level) => `fluent.${level}`);

/**
 * Without `<label @FLUENT_LOG>` Fluentd's own log events go to the first match that takes them
 * (`lib/fluent/fluent_log_event_router.rb`).
 */
export function ownEventWarnings(scopes: readonly { params: Params; around: Surroundings }[]): string[] {
  if (scopes.some(({ params }) => params.sections('label').some(isFluentLog))) return [];
  const matches = scopes.flatMap(({ params, around }) =>
    params.sections('match').map((match) => ({ match, around, tag: match.arg() || '**' })),
  );
  const takers = OWN_TAGS.map((own) => matches.find(({ tag }) => tagMatches(tag, own)));
  return [...new Set(takers)].flatMap((taker) => {
    if (taker === undefined || buffersOf(taker.match, taker.around).length === 0) return [];
    return [
      `${placeText(taker.match.element.place)}: <match ${taker.tag}> buffers Fluentd's own log events too, ` +
        'so its buffer may never be empty: add <label @FLUENT_LOG> with a <match **> of @type stdout or null.',
    ];
  });
}

function isFluentLog(label: Params): boolean {
  return label.arg() === '@FLUENT_LOG';
}

/** Whether a tag falls under a pattern of `<match>` (`lib/fluent/match.rb`). */
export function tagMatches(patterns: string, tag: string): boolean {
  return patterns.split(/\s+/).some((pattern) => tagPattern(pattern).test(tag));
}

function tagPattern(pattern: string): RegExp {
  try {
    if (/^\/.*\/$/.test(pattern)) return new RegExp(`^(?:${pattern.slice(1, -1)})$`);
    return new RegExp(`^${globToRegExp(pattern)}$`);
  } catch {
    return /(?!)/;
  }
}

function globToRegExp(pattern: string): string {
  let depth = 0;
  const body = pattern.replace(
    /\\(.)|\.?\*\*\.?|[*{},]|[^\w]/g,
    (token: string, escaped: string | undefined) => {
      if (escaped !== undefined) return literal(escaped);
      if (token.includes('**')) return anyTags(token);
      if (token === '*') return '[^.]*';
      if (token === '{' && ++depth) return '(?:';
      if (token === '}' && depth > 0 && depth--) return ')';
      return token === ',' && depth > 0 ? '|' : literal(token);
    },
  );
  return body + ')'.repeat(depth);
}

function literal(char: string): string {
  return /\w/.test(char) ? char : `\\${char}`;
}

/** `a.**` also takes `a`, and `**.a` takes `a`. */
function anyTags(token: string): string {
  const before = token.startsWith('.') ? '(?![^.])' : '';
  return before + (token.endsWith('.') ? '(?:.*\\.|^)' : '.*');
}

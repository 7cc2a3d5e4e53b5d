import { formatDuration, type Millis } from '../text/units.ts';
import type { BufferConf } from './buffer-sections.ts';
import { placeText } from './element.ts';
import type { Multiline } from './multiline.ts';
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
  const shorter = Math.min(5, Math.floor((wait - needed + refreshInterval) / 1_000));
  const refresh = shorter > 0 ? `refresh_interval ${shorter}s, or ` : '';
  return [
    `${placeText(place)}: in_tail looks for new files every ${formatDuration(refreshInterval)}, so ${option} ` +
      `${formatDuration(wait)} can end before it sees one: set ${refresh}${option} ${Math.ceil(needed / 1_000)}s.`,
  ];
}

interface Multilines {
  readonly multiline: readonly Multiline[];
  readonly buffers: readonly BufferConf[];
}

/** The last record that a multiline plugin holds comes out at the shutdown, too late for a file buffer. */
export function multilineWarnings({ multiline, buffers }: Multilines): string[] {
  const keeps = buffers.some(({ type, flushAtShutdown }) => type !== 'memory' && !flushAtShutdown);
  return multiline
    .filter(({ flushInterval }) => keeps && flushInterval === undefined)
    .map(
      ({ place, name, setting }) =>
        `${placeText(place)}: the last record of ${name} comes out when Fluentd stops, and then stays in a file buffer: ` +
        `set ${setting} 1s, or flush_at_shutdown true.`,
    );
}

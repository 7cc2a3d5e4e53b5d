import { formatDuration, type Millis } from '../text/units.ts';
import { placeText } from './element.ts';
import type { TailSource } from './tail.ts';

/** The waits that are measured against what in_tail needs. */
export interface Waits {
  readonly quiet?: Millis | undefined;
  readonly grace?: Millis | undefined;
}

type TailWaits = Pick<TailSource, 'refreshInterval' | 'rotateWait'>;

interface Sources {
  readonly sources: readonly TailSource[];
}

/** The quiet window that in_tail needs: it finds a new file, and then reads the one that was renamed to its end. */
export function quietNeededBy({ refreshInterval, rotateWait }: TailWaits): Millis {
  return refreshInterval + rotateWait;
}

/** New files that may be missed because posidle waits for less time than in_tail takes to find them. */
export function quietWarnings(conf: Sources, waits: Waits): string[] {
  return conf.sources.flatMap((source) => [
    ...tooShort(source, waits.quiet, quietNeededBy(source), (needed) => `\`quiet\` ${needed}`),
    ...tooShort(
      source,
      waits.grace,
      source.refreshInterval,
      (needed) => `\`grace\` ${needed} with a longer terminationGracePeriodSeconds`,
    ),
  ]);
}

type Remedy = (needed: string) => string;

function tooShort(source: TailSource, wait: Millis | undefined, needed: Millis, remedy: Remedy): string[] {
  const { place, refreshInterval } = source;
  if (wait === undefined || wait >= needed) return [];
  const shorter = Math.min(5, Math.floor((wait - needed + refreshInterval) / 1_000));
  const refresh = shorter > 0 ? `refresh_interval ${shorter}s, or ` : '';
  return [
    `${placeText(place)}: in_tail looks for new files every ${formatDuration(refreshInterval)}. posidle may stop Fluentd ` +
      `${formatDuration(wait)} after main's last line: set ${refresh}${remedy(`${Math.ceil(needed / 1_000)}s`)}.`,
  ];
}

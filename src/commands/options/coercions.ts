import { didYouMean } from '../../core/text/did-you-mean.ts';
import { LONGEST_TIMER, type Millis, parseDuration, parseSize } from '../../core/text/units.ts';
import type { Endpoint } from '../../node/network/http-server.ts';
import { UsageError } from '../../tasks/usage-error.ts';

export function durationOr<Word extends string = never>(...words: readonly Word[]) {
  return (given: string): Millis | Word => {
    const span = words.find((candidate) => candidate === given) ?? parseDuration(given);
    if (span !== undefined) return span;
    const remedy = /^\d+(\.\d+)?$/.test(given)
      ? `Did you mean ${given}s?`
      : `Write ${['500ms, 30s, 5m or 1h', ...words].join(', or ')}`;
    throw new UsageError(`'${given}' isn't a duration. ${remedy}`);
  };
}

const SHORTEST_INTERVAL: Millis = 10;

/** A duration that fits a timer and leaves time between two looks. */
export function interval(given: string): Millis {
  const span = durationOr()(given);
  if (span >= SHORTEST_INTERVAL && span <= LONGEST_TIMER) return span;
  const most = Math.floor(LONGEST_TIMER / 3_600_000);
  throw new UsageError(`'${given}' isn't a time between two looks. Write ${SHORTEST_INTERVAL}ms to ${most}h`);
}

const MOST_SERIES = 10_000;

export function fileCount(given: string): number {
  if (/^\d+$/.test(given) && Number(given) <= MOST_SERIES) return Number(given);
  throw new UsageError(`'${given}' isn't a number of files. Write 0 to ${MOST_SERIES}`);
}

export function nonEmpty(given: string): string {
  if (given !== '') return given;
  throw new UsageError('the value is empty. Is a variable not set?');
}

export function size(given: string): number {
  const bytes = parseSize(given);
  if (bytes !== undefined) return bytes;
  throw new UsageError(`'${given}' isn't a size. Write 4096, 64KiB or 10MB`);
}

/** `HOST:PORT`, or a port alone for loopback: nobody opens a port to other machines by accident. */
export function endpoint(given: string): Endpoint {
  const match = /^(?:\[([^\]]+)\]:|([^:]+):)?(\d{1,5})$/.exec(given);
  const port = Number(match?.[3]);
  if (match !== null && port <= 65_535) return { host: match[1] ?? match[2] ?? '127.0.0.1', port };
  throw new UsageError(
    `'${given}' isn't an address. Write 127.0.0.1:8080, or 0.0.0.0:8080 for calls from other machines`,
  );
}

export function oneOf<Word extends string>(words: readonly Word[]) {
  return (given: string): Word => {
    const word = words.find((candidate) => candidate === given);
    if (word !== undefined) return word;
    const mistake = `'${given}' isn't one of ${words.join(', ')}`;
    throw new UsageError([mistake, didYouMean(given, words)].filter(Boolean).join('. '));
  };
}

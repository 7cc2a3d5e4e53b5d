import { isRetrying, whatIsBuffered } from '../fluentd/buffers.ts';
import type { UndiscoveredFile } from '../look/undiscovered.ts';
import type { Observation, ObservedFile } from '../observe/observation.ts';
import { counted, formatBytes, formatDuration } from '../text/units.ts';
import type { Gate } from './state.ts';

/** The first condition of "everything read" that does not hold; undefined: everything is read. */
export function readGate(seen: Observation, acceptEmpty: boolean): Gate | undefined {
  const doubt = seen.unknown.find(({ empty }) => !(acceptEmpty && empty));
  if (doubt !== undefined) return { name: 'pos-file', why: `${doubt.path} ${doubt.why}` };
  const unread = seen.files.filter((file) => !file.read);
  if (unread.length > 0) return { name: 'unread', why: describeUnread(unread) };
  if (seen.undiscovered === undefined) return { name: 'look', why: 'not everything was looked at' };
  const [unlisted] = seen.unlisted;
  if (unlisted !== undefined) return { name: 'undiscovered', why: unlisted };
  const undiscovered = seen.undiscovered.filter(({ size }) => size > 0);
  if (undiscovered.length > 0) return { name: 'undiscovered', why: describeUndiscovered(undiscovered) };
  return workerGate(seen);
}

/** What of the buffers keeps the drain open; undefined: they are empty, as far as they can be seen. */
export function bufferGate({ buffers }: Observation): Gate | undefined {
  if (buffers === undefined) return { name: 'look', why: 'the buffers were not looked at' };
  const why = whatIsBuffered(buffers);
  return why === undefined ? undefined : { name: isRetrying(buffers) ? 'retry' : 'buffers', why };
}

/** Bytes are left that Fluentd could read, moving or not: the opposite of quiet. */
export function hasBytesLeft(seen: Observation): boolean {
  return seen.files.some(({ read, state }) => !read && state !== 'missing');
}

/** Bytes that Fluentd has still to read. */
export function bytesLeft({ files, undiscovered }: Observation): number {
  const read = files.reduce((sum, { lag }) => sum + (lag ?? 0), 0);
  return (undiscovered ?? []).reduce((sum, { size }) => sum + size, read);
}

/** A worker that died is started again; until it runs, nothing is read or flushed. */
function workerGate({ fluentd, memory }: Observation): Gate | undefined {
  const isAway =
    fluentd.kind === 'running' && !fluentd.alone && fluentd.workers.length === 0 && memory.workersSeen;
  return isAway
    ? { name: 'worker', why: 'the worker is gone, its supervisor is starting another one' }
    : undefined;
}

/** `2 files unread, 12.4 MiB left, most in /var/log/app.log (behind)`. */
function describeUnread(unread: readonly ObservedFile[]): string {
  const left = unread.reduce((sum, { lag }) => sum + (lag ?? 0), 0);
  const worst = unread.reduce((a, b) => ((b.lag ?? 0) > (a.lag ?? 0) ? b : a));
  const unsure = unread.some(({ lag }) => lag === null) ? 'at least ' : '';
  return `${counted(unread.length, 'file')} unread, ${unsure}${formatBytes(left)} left, most in ${worst.path} (${worst.state})`;
}

function describeUndiscovered(files: readonly UndiscoveredFile[]): string {
  const [first] = files;
  const more = files.length > 1 ? ` and ${files.length - 1} more` : '';
  const wait = Math.max(...files.map(({ refreshInterval }) => refreshInterval));
  const bytes = files.reduce((sum, { size }) => sum + size, 0);
  return `${first?.path}${more} (${formatBytes(bytes)}) not discovered yet; in_tail looks every ${formatDuration(wait)}`;
}

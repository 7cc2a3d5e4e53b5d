import type { Observation, ObservedFile } from './observation.ts';
import type { Gate } from './state.ts';
import { counted, formatBytes } from './units.ts';

/** The first condition of "everything read" that does not hold; undefined: everything is read. */
export function openGate(observation: Observation, acceptEmpty: boolean): Gate | undefined {
  const doubt = observation.unknown.find(({ empty }) => !(acceptEmpty && empty));
  if (doubt !== undefined) return { name: 'pos-file', why: `${doubt.path} ${doubt.why}` };
  const unread = observation.files.filter((file) => !file.read);
  return unread.length === 0 ? undefined : { name: 'unread', why: describeUnread(unread) };
}

/** Bytes are left that Fluentd could read, moving or not: the opposite of quiet. */
export function hasBytesLeft(observation: Observation): boolean {
  return observation.files.some(({ read, state }) => !read && state !== 'missing');
}

/** `2 files unread, 12.4 MiB left, most in /var/log/app.log (behind)`. */
function describeUnread(unread: readonly ObservedFile[]): string {
  const left = unread.reduce((sum, { lag }) => sum + (lag ?? 0), 0);
  const worst = unread.reduce((a, b) => ((b.lag ?? 0) > (a.lag ?? 0) ? b : a));
  const unsure = unread.some(({ lag }) => lag === null) ? 'at least ' : '';
  return `${counted(unread.length, 'file')} unread, ${unsure}${formatBytes(left)} left, most in ${worst.path} (${worst.state})`;
}

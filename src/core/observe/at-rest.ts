import type { Snapshot } from '../look/snapshot.ts';
import type { AtRest, Observation } from './observation.ts';

/** undefined: the next look may mean something else though it finds the same. */
export function atRest(snapshot: Snapshot, seen: Omit<Observation, 'atRest'>): AtRest | undefined {
  const { memory, files, readSince } = seen;
  const { looks, followed, fluentd } = snapshot;
  const isLasting =
    fluentd.kind === 'running' &&
    readSince !== undefined &&
    memory.gone.size + memory.closedSince.size === 0 &&
    !memory.workerReplaced &&
    // What is appended to a file that went away counts as unread only from the next look on.
    files.every(({ state }) => state !== 'missing');
  return isLasting ? { looks, followed, fluentd, entries: entriesOf(snapshot) } : undefined;
}

/** Whether a look has found the very same as one at rest. */
export function isStillAtRest(before: AtRest | undefined, snapshot: Snapshot): before is AtRest {
  const { looks, followed, fluentd, closed } = snapshot;
  if (before === undefined || closed.size > 0) return false;
  const entries = entriesOf(snapshot);
  return (
    before.looks === looks &&
    before.followed === followed &&
    before.fluentd === fluentd &&
    before.entries.length === snapshot.posFiles.length &&
    before.entries.every((list, index) => list === entries[index])
  );
}

function entriesOf({ posFiles }: Snapshot): AtRest['entries'] {
  return posFiles.flatMap((reading) => (reading.kind === 'read' ? [reading.entries] : []));
}

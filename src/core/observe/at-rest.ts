import type { Snapshot } from '../look/snapshot.ts';
import type { AtRest, Observation } from './observation.ts';

/** undefined: the next look may mean something else though it finds the same. */
export function atRest(snapshot: Snapshot, seen: Omit<Observation, 'atRest'>): AtRest | undefined {
  const { looks, followed, fluentd } = snapshot;
  const isLasting = (fluentd.kind === 'running' || fluentd.kind === 'absent') && seen.readSince !== undefined;
  return isLasting ? { looks, followed, fluentd, entries: entriesOf(snapshot) } : undefined;
}

/** Whether a look has found the very same as one at rest: where nothing has changed, the collector hands over the same objects. */
export function isStillAtRest(before: AtRest | undefined, snapshot: Snapshot): before is AtRest {
  const { looks, followed, fluentd } = snapshot;
  if (before === undefined) return false;
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

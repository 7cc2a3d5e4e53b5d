import type { Snapshot } from '../look/snapshot.ts';
import type { Subject } from '../look/subject.ts';
import type { Limits, Observation } from './observation.ts';
import { observe } from './observe.ts';

type Now = Pick<Snapshot, 'at' | 'fluentd' | 'requests'>;

const WHY = 'was not looked at in time: there are very many files, or a mount does not answer';

/** What is known while a look takes too long: what was seen before, and no word of whether it still holds. */
export function observeLate(
  before: Observation,
  now: Now,
  { posFiles }: Pick<Subject, 'posFiles'>,
): Observation {
  const [path = 'the pos file'] = posFiles;
  return {
    ...before,
    ...now,
    lookedAt: now.at,
    extent: 'late',
    // What a witness said before proves nothing of now.
    witness: undefined,
    readSince: undefined,
    unknown: [{ path, why: WHY, empty: false }],
  };
}

/** Before the first look. */
export function observeNothing(now: Now, limits: Limits): Observation {
  const nothing = { posFiles: [], looks: new Map(), followed: [], mains: undefined };
  const unasked = { source: 'outside', testimony: undefined, buffers: undefined } as const;
  const snapshot = { ...now, lookedAt: now.at, ...nothing, ...unasked, depth: 'rest' } as const;
  return observe(undefined, snapshot, limits);
}

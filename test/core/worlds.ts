import type { Policy } from '../../src/core/drain/policy.ts';
import type { FollowedReading, Snapshot } from '../../src/core/look/snapshot.ts';
import { DEFAULT_TAIL } from '../../src/core/progress/limits.ts';
import type { Witness } from '../../src/core/witness/reports.ts';
import { entry, fileOf, LOG, POS, type Watched } from '../support/builders.ts';

export const EMPTY: Partial<Snapshot> = { posFiles: [{ path: POS, kind: 'empty' }] };
export const MISSING: Partial<Snapshot> = { posFiles: [{ path: POS, kind: 'missing' }] };

/** A pos file with one line, which cannot be parsed. */
export const BROKEN: Partial<Snapshot> = {
  posFiles: [
    {
      ...{ path: POS, kind: 'read', writtenAgo: 0 },
      ...{ entries: [], replaced: [], unparsable: [{ line: 1, text: '/b' }] },
    },
  ],
};

export function unreadable(error: string): Pick<Snapshot, 'posFiles'> {
  return { posFiles: [{ path: POS, kind: 'unreadable', error }] };
}

/** The source of the pos file has files that in_tail is to follow. */
export function followed(changes: Partial<FollowedReading>): Pick<Snapshot, 'followed'> {
  return { followed: [{ posFile: POS, byInode: false, files: [], ...changes }] };
}

/** It has one file that no entry stands for yet. */
export function unfound(size: number, path = '/new', inode = '99'): Pick<Snapshot, 'followed'> {
  return followed({ files: [{ path, inode, size }] });
}

export function said(...witnesses: readonly Witness[]): Pick<Snapshot, 'reports'> {
  return { reports: { at: 60_000, witnesses } };
}

/** A log of this size that is read up to its 100th byte. */
export function sized(size: number, path = LOG): Watched {
  return [entry({ path }), fileOf(entry(), size)];
}

export function tailRules(changes: Partial<Policy['tail']>): Pick<Policy, 'tail'> {
  return { tail: { ...DEFAULT_TAIL, ...changes } };
}

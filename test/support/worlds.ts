import fc from 'fast-check';
import type { Policy } from '../../src/core/drain/policy.ts';
import { DEFAULT_TAIL } from '../../src/core/fluent-conf/facts.ts';
import { NO_BUFFERS } from '../../src/core/fluentd/buffer-contents.ts';
import type { FluentdReading } from '../../src/core/fluentd/processes.ts';
import type { FileLook, PosFileReading, Snapshot, StopRequest } from '../../src/core/look/snapshot.ts';
import type { PositionEntry } from '../../src/core/pos-file/pos-file.ts';
import {
  ABSENT,
  chunkPath,
  fileOf,
  ORPHANED,
  POS,
  policy,
  reading,
  row,
  running,
  snapshot,
  type Watched,
  WRAPPER,
} from './builders.ts';

/** What happens at one look; most of the time nothing. */
interface Turn {
  readonly after: number;
  readonly writes: readonly [number, number];
  readonly reads: boolean;
  readonly posFile: PosFileReading['kind'];
  readonly writtenAgo: number;
  readonly files: 'here' | 'unfinished' | 'cut' | 'gone' | 'broken' | 'let go';
  readonly fluentd:
    | 'running'
    | 'absent'
    | 'orphaned'
    | 'wrapper'
    | 'restarted'
    | 'ambiguous'
    | 'not permitted';
  readonly request: StopRequest['by'] | undefined;
  readonly isNew: boolean;
  /** A chunk comes, also of another source, or all of them go. */
  readonly chunks: 'same' | 'come' | 'go';
}

function mostly<T>(usual: T, ...others: readonly T[]): fc.Arbitrary<T> {
  const rare = others.map((value) => ({ weight: 1, arbitrary: fc.constant(value) }));
  return fc.oneof({ weight: 12 * others.length, arbitrary: fc.constant(usual) }, ...rare);
}

const turn: fc.Arbitrary<Turn> = fc.record({
  after: fc.oneof(fc.integer({ min: 50, max: 1_000 }), fc.integer({ min: 1_000, max: 8_000 })),
  writes: fc.tuple(mostly(0, 0, 0, 10), mostly(0, 0, 0, 7)),
  reads: mostly(true, false, false),
  posFile: mostly('read' as const, 'empty', 'missing', 'unreadable'),
  writtenAgo: fc.oneof(fc.constant(0), fc.integer({ min: -500, max: 5_000 })),
  files: mostly('here' as const, 'unfinished', 'cut', 'gone', 'broken', 'let go'),
  fluentd: mostly(
    'running' as const,
    'running',
    'running',
    'absent',
    'orphaned',
    'wrapper',
    'restarted',
    'ambiguous',
    'not permitted',
  ),
  request: mostly<StopRequest['by'] | undefined>(undefined, undefined, 'SIGTERM', 'SIGINT'),
  isNew: mostly(false, true),
  chunks: mostly('same' as const, 'come', 'go'),
});

/** Looks at a world in which lines are written and read, files come and go, and now and then something is amiss. */
export const worlds: fc.Arbitrary<readonly Snapshot[]> = fc
  .tuple(fc.constantFrom('calm', 'hectic'), fc.array(turn, { minLength: 5, maxLength: 60 }))
  .map(([mood, turns]) => looksAt(mood === 'calm' ? turns.map(calmed) : turns));

/** Little goes wrong in most worlds: else none of them would come to its end. */
function calmed(turn: Turn, index: number): Turn {
  const fluentd = turn.fluentd === 'absent' || turn.fluentd === 'orphaned' ? turn.fluentd : 'running';
  const isLate = index > 30;
  return { ...turn, files: 'here', posFile: 'read', fluentd: isLate ? fluentd : 'running', chunks: 'same' };
}

export const worldRules: fc.Arbitrary<Policy> = fc
  .record({
    quiet: fc.constantFrom(5_000, 15_000, 'off' as const),
    settle: fc.constantFrom(500, 2_000, 6_000),
    startTimeout: fc.constantFrom(20_000, 60_000, 'off' as const),
    drainTimeout: fc.constantFrom(10_000, 40_000),
    grace: fc.constantFrom(5_000, 25_000),
    stopTimeout: fc.constantFrom(5_000, 30_000),
    tail: fc.constant({ ...DEFAULT_TAIL, refreshInterval: 10_000 }),
  })
  .map((rules) => policy(rules));

function looksAt(turns: readonly Turn[]): readonly Snapshot[] {
  let at = 0;
  const sizes = [0, 0];
  const positions = [0, 0];
  const requests: StopRequest[] = [];
  let chunks: readonly string[] = [];
  return turns.map((turn) => {
    at += turn.after;
    for (const [index, count] of turn.writes.entries()) sizes[index] = (sizes[index] ?? 0) + count;
    if (turn.reads) positions.splice(0, 2, ...sizes);
    if (turn.request !== undefined) requests.push({ by: turn.request, at });
    if (turn.chunks === 'come') chunks = [...chunks, chunkPath(at)];
    if (turn.chunks === 'go') chunks = [];
    const files = positions.map(
      (position, index): Watched => watched(index, position, { turn, size: sizes[index] ?? 0 }),
    );
    return snapshot(at, files, {
      posFiles: [posFileOf(turn, files)],
      fluentd: fluentdOf(turn),
      followed: [followedOf(turn)],
      buffers: {
        ...NO_BUFFERS,
        outputs: [{ name: 'out', chunks: chunks.map((path) => ({ path, size: 10 })) }],
      },
      requests: [...requests],
    });
  });
}

function watched(index: number, position: number, { turn, size }: { turn: Turn; size: number }): Watched {
  const entry = { path: `/var/log/${index}.log`, position, inode: String(7 + index) };
  const isIt = index === 0;
  if (isIt && turn.files === 'let go') return [{ ...entry, position: null }, fileOf(entry, size)];
  return [entry, isIt ? lookOf(turn, entry, size) : fileOf(entry, size)];
}

function lookOf({ files }: Turn, entry: PositionEntry, size: number): FileLook {
  switch (files) {
    case 'gone':
      return {};
    case 'broken':
      return { error: 'EACCES: permission denied, stat' };
    case 'cut':
      return fileOf(entry, Math.floor((entry.position ?? 0) / 2));
    case 'unfinished':
      return size > (entry.position ?? 0)
        ? fileOf(entry, size)
        : { atPath: { inode: entry.inode, size: size + 3 }, newlineLeft: false };
    default:
      return fileOf(entry, size);
  }
}

function posFileOf({ posFile, writtenAgo }: Turn, files: readonly Watched[]): PosFileReading {
  if (posFile === 'read') return reading(files, writtenAgo);
  return posFile === 'unreadable' ? { path: POS, kind: posFile, error: 'EIO' } : { path: POS, kind: posFile };
}

function fluentdOf({ fluentd }: Turn): FluentdReading {
  switch (fluentd) {
    case 'running':
      return running();
    case 'restarted':
      return running({ supervisor: { pid: 5_000, startTime: '3' } });
    case 'not permitted':
      return running({ permitted: false });
    case 'absent':
      return ABSENT;
    case 'orphaned':
      return ORPHANED;
    case 'wrapper':
      return WRAPPER;
    case 'ambiguous':
      return { kind: 'ambiguous', candidates: [row(), row({ pid: 5_000 })] };
  }
}

function followedOf({ isNew }: Turn) {
  const files = isNew ? [{ path: '/var/log/new.log', inode: '99', size: 5 }] : [];
  return { posFile: POS, refreshInterval: 10_000, byInode: false, files };
}

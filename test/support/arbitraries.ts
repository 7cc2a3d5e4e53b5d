import fc from 'fast-check';
import type { Policy } from '../../src/core/drain/policy.ts';
import { DEFAULT_TAIL } from '../../src/core/fluent-conf/facts.ts';
import { type BuffersReading, NO_BUFFERS } from '../../src/core/fluentd/buffer-contents.ts';
import type { FluentdReading } from '../../src/core/fluentd/processes.ts';
import type { FileLook, PosFileReading, Snapshot, StopRequest } from '../../src/core/look/snapshot.ts';
import { decodePath } from '../../src/core/pos-file/path-bytes.ts';
import type { PositionEntry } from '../../src/core/pos-file/pos-file.ts';
import {
  ABSENT,
  fileOf,
  ORPHANED,
  outputReading,
  POS,
  policy,
  reading,
  row,
  running,
  snapshot,
  told,
  type Watched,
} from './builders.ts';

/** One seed in CI, so that a red run can be run again; any seed elsewhere. */
export const RUNS = process.env.CI === undefined ? {} : { seed: 20_261_121 };

const TAB = 0x09;
const NEWLINE = 0x0a;
const UNWATCHED = 'f'.repeat(16);

/** Bytes of a path as it stands in a pos file: anything but tab and newline, also what is no UTF-8. */
export const pathBytes: fc.Arbitrary<Uint8Array> = fc.oneof(
  fc.stringMatching(/^\/[a-z]{1,8}(\/[a-z. -]{1,12}){0,3}$/).map(bytesOf),
  fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 }).map(bytesOf).map(asPath),
  fc.uint8Array({ minLength: 1, maxLength: 40 }).map(asPath),
);

/** Hexadecimal digits in either case, leading zeros too. */
function hexDigits(minLength: number, maxLength: number): fc.Arbitrary<string> {
  const digit = fc.constantFrom(...'0123456789abcdefABCDEF');
  return fc.array(digit, { minLength, maxLength }).map((digits) => digits.join(''));
}

/** What follows the inode and is ignored: it cannot begin with another digit of the inode. */
const rest: fc.Arbitrary<Uint8Array> = fc.oneof(
  { weight: 4, arbitrary: fc.constant(new Uint8Array()) },
  fc.constantFrom('\r', ' ', '\t', '\tmore', 'g', '\0').map(bytesOf),
  fc.uint8Array({ maxLength: 8 }).map((bytes) =>
    bytesOf(
      '\t',
      bytes.filter((byte) => byte !== NEWLINE),
    ),
  ),
);

export interface GeneratedLine {
  readonly bytes: Uint8Array;
  readonly path: Uint8Array;
  readonly position: string;
  readonly inode: string;
}

const position = fc.oneof(
  hexDigits(1, 20),
  hexDigits(16, 16),
  fc.nat().map((value) => value.toString(16).padStart(16, '0')),
  fc.constantFrom(
    UNWATCHED,
    UNWATCHED.toUpperCase(),
    `0000${UNWATCHED}`,
    'fffffffffffffffe',
    '1fffffffffffff',
  ),
);
const inode = fc.oneof(
  hexDigits(1, 20),
  hexDigits(8, 8),
  fc.constantFrom(UNWATCHED, '0'.repeat(16), '0', '20000000000001'),
);

/** A line that Fluentd's regex accepts, made by the grammar that it is. */
export const entryLine: fc.Arbitrary<GeneratedLine> = fc
  .record({ path: pathBytes, position, inode, rest })
  .map(({ path, position, inode, rest }) => ({
    bytes: bytesOf(path, `\t${position}\t${inode}`, rest, '\n'),
    path,
    position,
    inode,
  }));

/** A line that is none, or nearly one. */
const brokenLine: fc.Arbitrary<Uint8Array> = fc.oneof(
  fc
    .constantFrom('\n', '\t\n', '\t1\t2\n', 'path\n', 'path\t1\n', 'path\t\t2\n', 'path\tx\t2\n')
    .map(bytesOf),
  fc
    .constantFrom('path 1 2\n', 'path\t0x1\t2\n', 'path\t1\tg\n', 'path\t-1\t2\n', '\0'.repeat(40))
    .map(bytesOf),
  fc
    .tuple(pathBytes, pathBytes, position, inode)
    .map(([a, b, at, ino]) => bytesOf(a, '\t', b, `\t${at}\t${ino}\n`)),
  fc.uint8Array({ maxLength: 60 }),
);

/** Bytes of whole pos files, good and bad; the last line may be torn. */
export const posFileBytes: fc.Arbitrary<Uint8Array> = fc
  .array(fc.oneof({ weight: 3, arbitrary: entryLine.map(({ bytes }) => bytes) }, brokenLine), {
    maxLength: 8,
  })
  .chain((lines) => {
    const whole = bytesOf(...lines);
    const torn = fc.nat(whole.length).map((length) => whole.subarray(0, length));
    return fc.oneof({ weight: 3, arbitrary: fc.constant(whole) }, torn);
  });

/** An entry as Fluentd writes it. */
export const positionEntry: fc.Arbitrary<PositionEntry> = fc.record({
  path: pathBytes.map(decodePath),
  position: fc.oneof(fc.nat(), fc.maxSafeNat(), fc.constant(null)),
  inode: fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }).map(String),
});

/** Strings and bytes in one row; a string is UTF-8. */
export function bytesOf(...parts: readonly (string | Uint8Array)[]): Uint8Array {
  return Buffer.concat(parts.map((part) => Buffer.from(part as string)));
}

/** The bytes without those that cannot stand in a path; one letter where nothing is left. */
function asPath(bytes: Uint8Array): Uint8Array {
  const path = bytes.filter((byte) => byte !== TAB && byte !== NEWLINE);
  return path.length === 0 ? bytesOf('p') : path;
}

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
  readonly chunks: number;
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
  chunks: mostly(0, 1),
});

/** Looks at a world in which lines are written and read, files come and go, and now and then something is amiss. */
export const worlds: fc.Arbitrary<readonly Snapshot[]> = fc
  .tuple(fc.constantFrom('calm', 'hectic'), fc.array(turn, { minLength: 5, maxLength: 60 }))
  .map(([mood, turns]) => looksAt(mood === 'calm' ? turns.map(calmed) : turns));

/** Little goes wrong in most worlds: else none of them would come to its end. */
function calmed(turn: Turn, index: number): Turn {
  const fluentd = turn.fluentd === 'absent' || turn.fluentd === 'orphaned' ? turn.fluentd : 'running';
  const isLate = index > 30;
  return { ...turn, files: 'here', posFile: 'read', fluentd: isLate ? fluentd : 'running', chunks: 0 };
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
    dryRun: mostly(false, true),
  })
  .map((rules) => policy(rules));

function looksAt(turns: readonly Turn[]): readonly Snapshot[] {
  let at = 0;
  const sizes = [0, 0];
  const positions = [0, 0];
  const requests: StopRequest[] = [];
  return turns.map((turn) => {
    at += turn.after;
    for (const [index, count] of turn.writes.entries()) sizes[index] = (sizes[index] ?? 0) + count;
    if (turn.reads) positions.splice(0, 2, ...sizes);
    if (turn.request !== undefined) requests.push({ by: turn.request, at });
    const files = positions.map(
      (position, index): Watched => watched(index, position, { turn, size: sizes[index] ?? 0 }),
    );
    return snapshot(at, files, {
      posFiles: [posFileOf(turn, files)],
      fluentd: fluentdOf(turn),
      followed: [followedOf(turn)],
      buffers: buffersOf(turn),
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
      return { kind: 'wrapper', leader: { pid: 4000, startTime: '0' }, since: 0, permitted: true };
    case 'ambiguous':
      return { kind: 'ambiguous', candidates: [row(), row({ pid: 5_000 })] };
  }
}

function followedOf({ isNew }: Turn) {
  const files = isNew ? [{ path: '/var/log/new.log', inode: '99', size: 5 }] : [];
  return { posFile: POS, refreshInterval: 10_000, byInode: false, files };
}

function buffersOf({ chunks }: Turn): BuffersReading {
  return {
    ...NO_BUFFERS,
    outputs: [outputReading({ told: told({ chunks, bytes: 10 * chunks }) })],
    none: false,
  };
}

import { describe, expect, test } from 'vitest';
import { bufferGate, bytesLeft, drainGate, hasBytesLeft, waitingIn } from '../../../src/core/drain/gates.ts';
import type { Policy } from '../../../src/core/drain/policy.ts';
import type { Draining, Flush } from '../../../src/core/drain/state.ts';
import {
  type BuffersReading,
  NO_BUFFERS,
  type OutputReading,
} from '../../../src/core/fluentd/buffer-contents.ts';
import type { Chunk } from '../../../src/core/fluentd/chunk.ts';
import type { FollowedReading, Snapshot } from '../../../src/core/look/snapshot.ts';
import {
  ABSENT,
  entry,
  fileOf,
  ORPHANED,
  outputReading,
  POS,
  policy,
  reading,
  running,
  seen,
  snapshot,
  told,
  type Watched,
} from '../../support/builders.ts';

/** A change to a world in which every gate is open. */
interface Change {
  readonly files?: readonly Watched[];
  readonly look?: Partial<Snapshot>;
  readonly before?: Partial<Snapshot>;
  readonly state?: Partial<Draining>;
  readonly rules?: Partial<Policy>;
}

interface Row extends Change {
  readonly title: string;
  readonly name: string;
  readonly why: string | RegExp;
}

const behind: Watched = [
  entry({ path: '/behind', inode: '8', position: 10 }),
  fileOf(entry({ inode: '8', position: 10 }), 30),
];
const byte = entry({ path: '/byte', inode: '10', position: 10 });
const gone: Watched = [entry({ path: '/gone', inode: '9' }), {}];
const newFile = { path: '/new', inode: '99', size: 5 };
const WRAPPER = {
  kind: 'wrapper',
  leader: { pid: 4000, startTime: '0' },
  since: 0,
  permitted: true,
} as const;
const UNSETTLED = { trigger: { by: 'http', at: 59_000 } } as const;

/** In the order in which they are told; the words are those of the status and of the outcome. */
const GATES: readonly Row[] = [
  {
    title: 'no Fluentd',
    name: 'fluentd',
    why: 'no fluentd runs',
    look: { fluentd: ABSENT },
  },
  {
    title: 'a wrapper whose Fluentd has ended',
    name: 'fluentd',
    why: 'Fluentd has ended, and its wrapper has not started another one',
    look: { fluentd: WRAPPER },
  },
  {
    title: 'a Fluentd that is being replaced',
    name: 'fluentd',
    why: 'Fluentd is being replaced by pid 5000',
    look: { fluentd: running({ successor: { pid: 5_000, startTime: '9' } }) },
  },
  {
    title: 'a supervisor without its worker',
    name: 'worker',
    why: 'the worker is gone, and its supervisor is starting another one',
    look: { fluentd: running({ workers: [] }) },
  },
  {
    title: 'a pos file that is away',
    name: 'pos-file',
    why: `${POS} is not there`,
    look: { posFiles: [{ path: POS, kind: 'missing' }] },
  },
  {
    title: 'an unreadable pos file',
    name: 'pos-file',
    why: `${POS} cannot be read: EIO`,
    look: { posFiles: [{ path: POS, kind: 'unreadable', error: 'EIO' }] },
  },
  {
    title: 'an empty pos file',
    name: 'pos-file',
    why: `${POS} is empty for now`,
    look: { posFiles: [{ path: POS, kind: 'empty' }] },
  },
  {
    title: 'a file with bytes left',
    name: 'unread',
    why: '1 file unread, 20 B left, most in /behind (blocked)',
    files: [behind],
  },
  {
    title: 'two files, one of which nobody knows',
    name: 'unread',
    why: '2 files unread, at least 20 B left, most in /behind (blocked)',
    files: [gone, behind],
  },
  {
    title: 'a file that nobody knows, before one with a single byte left',
    name: 'unread',
    why: '2 files unread, at least 1 B left, most in /byte (blocked)',
    files: [gone, [byte, fileOf(byte, 11)]],
  },
  {
    title: 'two files that nobody knows, the first of which is named',
    name: 'unread',
    why: '2 files unread, at least 0 B left, most in /gone (missing)',
    files: [gone, [entry({ path: '/another', inode: '10' }), {}]],
  },
  {
    title: 'a look that did not take in everything',
    name: 'look',
    why: 'posidle could not look at every file',
    look: { depth: 'rest' },
  },
  {
    title: 'files that cannot be listed',
    name: 'undiscovered',
    why: `posidle cannot tell which files belong to ${POS}: EACCES`,
    look: { followed: [followed({ unknown: 'EACCES' })] },
  },
  {
    title: 'a file that in_tail has yet to find',
    name: 'undiscovered',
    why: '/new (5 B) not discovered yet; in_tail looks every 60 s',
    look: { followed: [followed({ files: [newFile] })] },
  },
  {
    title: 'files that in_tail has yet to find, by two sources: the longest wait counts',
    name: 'undiscovered',
    why: /in_tail looks every 60 s$/,
    look: {
      followed: [followed({ files: [newFile] }), followed({ files: [newFile], refreshInterval: 5_000 })],
    },
  },
  {
    title: 'one byte of a file that in_tail has yet to find',
    name: 'undiscovered',
    why: /^\/new \(1 B\)/,
    look: { followed: [followed({ files: [{ ...newFile, size: 1 }] })] },
  },
  {
    title: 'two files that in_tail has yet to find',
    name: 'undiscovered',
    why: /^\/new and 1 more \(8 B\) not discovered yet/,
    look: { followed: [followed({ files: [newFile, { path: '/more', inode: '98', size: 3 }] })] },
  },
  {
    title: 'a worker that has not opened its pos file yet',
    name: 'worker',
    why: 'the worker has only just been started, and has not opened its pos file yet',
    look: { fluentd: running({ isStarting: true, workers: [{ pid: 5_000, startTime: '9' }] }) },
  },
  {
    title: 'a Fluentd that is not proven',
    name: 'fluentd',
    why: /^pid 4242 may not be the right fluentd/,
    look: { fluentd: running({ isProven: false }) },
  },
  {
    title: 'too short a time',
    name: 'settle',
    why: 'everything is read; posidle waits for `settle` to see whether it stays so',
    state: UNSETTLED,
  },
  {
    title: 'no flush yet',
    name: 'flush',
    why: 'everything is read, but not flushed yet',
    state: { flush: undefined },
  },
  {
    title: 'no flush yet, in another container',
    name: 'flush',
    why: 'everything is read, but not flushed yet',
    look: { fluentd: { kind: 'remote', permitted: true }, buffers: buffersOf({}) },
    state: { flush: undefined },
  },
  {
    title: 'buffers that were not looked at',
    name: 'look',
    why: 'posidle has not looked at the buffers',
    look: { buffers: undefined },
  },
  {
    title: 'chunks in a buffer',
    name: 'buffers',
    why: '2 chunks (20 B) in out',
    look: { buffers: buffersOf({ told: told({ chunks: 2, bytes: 20 }) }) },
  },
  {
    title: 'a chunk that is being sent: it counts only by its bytes',
    name: 'buffers',
    why: '0 chunks (20 B) in out',
    look: { buffers: buffersOf({ told: told({ bytes: 20 }) }) },
  },
  {
    title: 'chunks on disk',
    name: 'buffers',
    why: '1 chunk (7 B) in out',
    look: { buffers: buffersOf({ told: undefined, inMemory: false, onDisk: [chunk(0, 7)] }) },
  },
  {
    title: 'a monitor_agent that is silent',
    name: 'buffers',
    why: 'monitor_agent at 127.0.0.1:24220 does not answer',
    look: {
      buffers: { ...NO_BUFFERS, none: false, silent: ['monitor_agent at 127.0.0.1:24220 does not answer'] },
    },
  },
  {
    title: 'a monitor_agent that tells of an output no more',
    name: 'buffers',
    why: 'monitor_agent does not report out',
    before: { buffers: buffersOf({}) },
    look: { buffers: buffersOf({ told: undefined }) },
  },
  {
    title: 'an output that retries',
    name: 'retry',
    why: '1 chunk (10 B) in out, which retries',
    look: { buffers: buffersOf({ told: told({ chunks: 1, bytes: 10, retrying: true }) }) },
  },
  {
    title: 'an output that retries, whatever it holds',
    name: 'retry',
    why: '0 chunks (0 B) in out, which retries',
    look: { buffers: buffersOf({ told: told({ retrying: true }) }) },
  },
];

test('every gate is open where everything is read for long enough, flushed and delivered', () => {
  expect(gateIn({})).toBeUndefined();
});

describe('the drain is kept open by', () => {
  test.each(GATES)('$title ($name)', ({ name, why, ...change }) => {
    expect(gateIn(change)).toEqual({ name, why: typeof why === 'string' ? why : expect.stringMatching(why) });
  });
});

describe('of two closed gates the first is told', () => {
  /** One way to close each gate, in their order; each only closes what comes after it by itself. */
  const closed: readonly { readonly name: string; readonly look?: Partial<Snapshot> }[] = [
    { name: 'fluentd', look: { fluentd: ABSENT } },
    { name: 'pos-file', look: { posFiles: [pos(entryAt(50)), { path: '/other.pos', kind: 'missing' }] } },
    { name: 'unread', look: { posFiles: [pos(entryAt(50))] } },
    { name: 'look', look: { depth: 'rest' } },
    { name: 'undiscovered', look: { followed: [followed({ files: [newFile] })] } },
  ];
  const later = {
    state: { ...UNSETTLED, flush: undefined },
    buffers: buffersOf({ told: told({ chunks: 1 }) }),
  };

  test.each(closed.map(({ name }, index) => ({ name, index })))('$name', ({ name, index }) => {
    const looks = closed.slice(index).map(({ look }) => look);
    const look: Partial<Snapshot> = Object.assign({}, ...looks.toReversed());
    expect(gateIn({ look: { ...look, buffers: later.buffers }, state: later.state })?.name).toBe(name);
  });

  test.each<{ name: string } & Change>([
    {
      name: 'fluentd',
      look: { fluentd: running({ isProven: false }), buffers: later.buffers },
      state: later.state,
    },
    { name: 'settle', look: { buffers: later.buffers }, state: later.state },
    { name: 'flush', look: { buffers: later.buffers }, state: { flush: undefined } },
    { name: 'buffers', look: { buffers: later.buffers } },
  ])('$name, once everything is read', ({ name, ...change }) => {
    expect(gateIn(change)?.name).toBe(name);
  });
});

describe('nothing is kept open by', () => {
  test.each<Change & { title: string }>([
    { title: 'an orphaned worker', look: { fluentd: ORPHANED } },
    { title: 'a Fluentd in another container', look: { fluentd: { kind: 'remote', permitted: true } } },
    { title: 'a lone process without a worker', look: { fluentd: running({ alone: true, workers: [] }) } },
    {
      title: 'a supervisor that never had a worker',
      before: { fluentd: running({ workers: [] }) },
      look: { fluentd: running({ workers: [] }) },
    },
    {
      title: 'an empty pos file after the start timeout',
      look: { posFiles: [{ path: POS, kind: 'empty' }] },
      state: { trigger: { by: 'start-timeout', at: 0 } },
    },
    {
      title: 'an empty file that in_tail has yet to find',
      look: { followed: [followed({ files: [{ ...newFile, size: 0 }] })] },
    },
    {
      title: 'a flush that was not asked for, without buffers',
      look: { buffers: NO_BUFFERS },
      state: { flush: undefined },
    },
    {
      title: 'a flush of a Fluentd that nobody can ask for one',
      look: { fluentd: { kind: 'remote', permitted: true, isDeaf: true }, buffers: buffersOf({}) },
      state: { flush: undefined },
    },
    {
      title: 'a Fluentd that is not proven, in a dry run',
      look: { fluentd: running({ isProven: false }) },
      rules: { dryRun: true },
    },
    {
      title: 'buffers and a flush, in a dry run',
      look: { buffers: buffersOf({ told: told({ chunks: 1 }) }) },
      state: { flush: undefined },
      rules: { dryRun: true },
    },
    {
      title: 'an output of which a monitor_agent never told',
      look: { buffers: buffersOf({ told: undefined }) },
    },
    {
      title: 'the silence of agents that were not asked',
      before: { buffers: buffersOf({}) },
      look: { buffers: { ...buffersOf({ told: undefined }), asked: false } },
    },
  ])('$title', (change) => {
    expect(gateIn(change)).toBeUndefined();
  });

  test('a file that Fluentd may not read', () => {
    const looks = [0, 200_000, 210_000].map((at) =>
      snapshot(at, [[entry()]], {
        followed: [followed({ files: [newFile] })],
        closed: new Set(['/new']),
        buffers: NO_BUFFERS,
      }),
    );
    expect(drainGate(draining({}), seen(looks), policy())).toBeUndefined();
  });

  test('a file that Fluentd may not read, also when its worker has just ended', () => {
    const change = { followed: [followed({ files: [newFile] })], buffers: NO_BUFFERS };
    const [closed, none] = [new Set(['/new']), new Set<string>()];
    const looks = [0, 200_000].map((at) => snapshot(at, [[entry()]], { ...change, closed }));
    const last = (unsure: ReadonlySet<string>) =>
      snapshot(210_000, [[entry()]], { ...change, closed: none, unsure });
    const gateAfter = (unsure: ReadonlySet<string>) =>
      drainGate(draining({}), seen([...looks, last(unsure)]), policy())?.name;
    expect([gateAfter(closed), gateAfter(none)]).toEqual([undefined, 'undiscovered']);
  });
});

describe('a flush', () => {
  test.each([
    ['after the last movement counts', 60_000, undefined],
    ['at the time of the last movement counts', 50_000, undefined],
    ['before the last movement does not count', 49_999, 'flush'],
  ])('%s', (_, at, name) => {
    const moved = [0, 50_000, 60_000].map((now, index) =>
      snapshot(now, [[index === 0 ? entryAt(50) : entry()]], { buffers: buffersOf({}) }),
    );
    const state = draining({ flush: { at, buffers: undefined } });
    expect(drainGate(state, seen(moved), policy())?.name).toBe(name);
  });
});

describe('an output that takes Fluentd’s own log events waits', () => {
  const flush = (buffers?: BuffersReading): Flush => ({ at: 50_000, buffers });
  const own = (changes: Partial<OutputReading>) => outputReading({ takesOwnEvents: true, ...changes });
  const asked = (chunks: number, sent: number) => buffersOf(own({ told: told({ chunks, sent, bytes: 99 }) }));

  test.each<{
    title: string;
    output: OutputReading;
    flush: Flush | undefined;
    waiting: { chunks: number; bytes: number };
  }>([
    {
      title: 'for all chunks before the flush',
      output: own({ onDisk: [chunk(1_000, 7)] }),
      flush: undefined,
      waiting: { chunks: 1, bytes: 7 },
    },
    {
      title: 'for chunks on disk that are older than the flush',
      output: own({ onDisk: [chunk(10_001, 7)] }),
      flush: flush(),
      waiting: { chunks: 1, bytes: 7 },
    },
    {
      title: 'for a chunk on disk that is as old as the flush',
      output: own({ onDisk: [chunk(10_000, 7)] }),
      flush: flush(),
      waiting: { chunks: 1, bytes: 7 },
    },
    {
      title: 'for no chunk on disk that is younger than the flush',
      output: own({ onDisk: [chunk(9_999, 7)] }),
      flush: flush(),
      waiting: { chunks: 0, bytes: 0 },
    },
    {
      title: 'for the old one of two chunks on disk',
      output: own({ onDisk: [chunk(9_000, 7), chunk(11_000, 5)] }),
      flush: flush(),
      waiting: { chunks: 1, bytes: 5 },
    },
    {
      title: 'for as many chunks as were there at the flush and were not sent since',
      output: own({ told: told({ chunks: 4, sent: 12, bytes: 70 }) }),
      flush: flush(asked(3, 10)),
      waiting: { chunks: 1, bytes: 70 },
    },
    {
      title: 'for nothing once all that was there at the flush is sent',
      output: own({ told: told({ chunks: 4, sent: 13, bytes: 70 }) }),
      flush: flush(asked(3, 10)),
      waiting: { chunks: 0, bytes: 0 },
    },
    {
      title: 'for all chunks where nobody knows what was there at the flush',
      output: own({ told: told({ chunks: 4, sent: 13, bytes: 70 }) }),
      flush: flush(),
      waiting: { chunks: 4, bytes: 70 },
    },
    {
      title: 'for all chunks, also young ones, where it takes none of them',
      output: outputReading({ onDisk: [chunk(9_999, 7)] }),
      flush: flush(),
      waiting: { chunks: 1, bytes: 7 },
    },
  ])('$title', ({ output, flush, waiting }) => {
    expect(waitingIn(output, flush, 60_000)).toEqual(waiting);
  });

  test('and keeps no drain open with what came after the flush', () => {
    const observed = observedIn({ look: { buffers: buffersOf(own({ onDisk: [chunk(9_999, 7)] })) } });
    expect(bufferGate(observed, flush())).toBeUndefined();
    expect(bufferGate(observed, undefined)?.name).toBe('buffers');
  });
});

describe('bytes left', () => {
  test('are those of files that are behind and of files that wait to be found', () => {
    const observed = observedIn({ files: [behind], look: { followed: [followed({ files: [newFile] })] } });
    expect(bytesLeft(observed)).toBe(25);
    expect(hasBytesLeft(observed)).toBe(true);
  });

  test('are none of a file of which nobody knows how many', () => {
    expect(bytesLeft(observedIn({ files: [gone, behind] }))).toBe(20);
  });

  test('are no reason to wait where the file is missing', () => {
    expect(hasBytesLeft(observedIn({ files: [gone] }))).toBe(false);
  });
});

function gateIn(change: Change) {
  return drainGate(draining(change.state), observedIn(change), policy(change.rules));
}

/** Everything has been read for a minute; nothing is in the buffer. */
function observedIn({ files = [], look = {}, before = {} }: Change) {
  const all: readonly Watched[] = [[entry()], ...files];
  const looks = [
    snapshot(0, all, { buffers: undefined, ...before }),
    snapshot(60_000, all, { buffers: buffersOf({}), ...look }),
  ];
  return seen(looks);
}

function draining(changes: Partial<Draining> = {}): Draining {
  const trigger = { by: 'http', at: 0 } as const;
  const flush = { at: 50_000, buffers: undefined };
  const done = { completed: false, emptyAt: undefined, closingAt: undefined };
  return { name: 'draining', since: 0, trigger, flush, ...done, ...changes };
}

function buffersOf(output: Partial<OutputReading>): BuffersReading {
  return { ...NO_BUFFERS, none: false, outputs: [outputReading(output)] };
}

function chunk(age: number, size: number): Chunk {
  return { path: `/buffer/${age}`, size, age };
}

function followed(changes: Partial<FollowedReading>): FollowedReading {
  return { posFile: POS, refreshInterval: 60_000, byInode: false, files: [], ...changes };
}

function entryAt(position: number) {
  return entry({ position });
}

function pos(one: ReturnType<typeof entry>) {
  return reading([[one]]);
}

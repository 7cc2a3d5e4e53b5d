import { describe, expect, test } from 'vitest';
import { bytesLeft, drainGate, hasBytesLeft, readGate } from '../../../src/core/drain/gates.ts';
import type { Policy } from '../../../src/core/drain/policy.ts';
import type { Draining, Trigger } from '../../../src/core/drain/state.ts';
import { DEFAULT_TAIL } from '../../../src/core/fluent-conf/facts.ts';
import type { FollowedReading, Snapshot } from '../../../src/core/look/snapshot.ts';
import type { Witness } from '../../../src/core/witness/testimony.ts';
import {
  ABSENT,
  draining,
  entry,
  fileOf,
  IN_MEMORY,
  LOG,
  ORPHANED,
  onDisk,
  POS,
  policy,
  REMOTE,
  running,
  seen,
  snapshot,
  type Watched,
  WRAPPER,
} from '../../support/builders.ts';
import { holding, sight } from '../../support/said.ts';
import { alive } from '../../support/witnesses.ts';

/** A change to a world in which every gate is open. */
interface Change {
  readonly files?: readonly Watched[];
  readonly before?: Partial<Snapshot>;
  readonly look?: Partial<Snapshot>;
  readonly state?: Partial<Draining>;
  readonly rules?: Partial<Policy>;
}

interface Row extends Change {
  readonly title: string;
  readonly name: string;
  readonly why: string | RegExp;
}

const NOW = 60_000;
const at = (position: number) => entry({ position });
const behind: Watched = [at(80), fileOf(entry())];
const unfinished: Watched = [at(80), { atPath: { inode: '7', size: 100 }, newlineLeft: false }];
const newFile = { path: '/new', inode: '99', size: 5 };
const flushedAt = (when: number) => ({ flushedAt: when });
const SIGTERM: Trigger = { by: 'SIGTERM', at: 59_000 };
const QUIET: Trigger = { by: 'quiet', at: 59_000 };

function followed(changes: Partial<FollowedReading>): Pick<Snapshot, 'followed'> {
  return { followed: [{ posFile: POS, refreshInterval: 60_000, byInode: false, files: [], ...changes }] };
}

function said(...witnesses: readonly Witness[]): Pick<Snapshot, 'testimony'> {
  return { testimony: { at: NOW, witnesses } };
}

/** Everything has been read for a minute, and there is no buffer. */
function observedIn({ files = [[entry()]], look = {}, before = {}, rules = {} }: Change) {
  return seen([snapshot(0, files, before), snapshot(NOW, files, look)], policy(rules));
}

function gateIn(change: Change) {
  return drainGate(draining(change.state), observedIn(change), policy(change.rules));
}

test('every gate is open where everything has been read for the settle time, and no buffer holds anything', () => {
  expect(gateIn({})).toBeUndefined();
});

/** In the order in which they are told; the words are those of the status and of the log. */
const GATES: readonly Row[] = [
  { title: 'no Fluentd', look: { fluentd: ABSENT }, name: 'fluentd', why: 'no fluentd runs' },
  {
    title: 'a wrapper whose Fluentd has ended',
    look: { fluentd: WRAPPER },
    name: 'fluentd',
    why: 'Fluentd has ended, and its wrapper has not started another one',
  },
  {
    title: 'a Fluentd that is being replaced',
    look: { fluentd: running({ successor: { pid: 5_000, startTime: '9' } }) },
    name: 'fluentd',
    why: 'Fluentd is being replaced by pid 5000',
  },
  {
    title: 'a worker that has not opened its pos file yet',
    look: { fluentd: running({ isStarting: true, workers: [{ pid: 5_000, startTime: '9' }] }) },
    name: 'worker',
    why: 'the worker has only just been started, and has not opened its pos file yet',
  },
  {
    title: 'a supervisor without its worker',
    look: { fluentd: running({ workers: [] }) },
    name: 'worker',
    why: 'the worker is gone, and its supervisor is starting another one',
  },
  {
    title: 'a look that did not take in everything',
    look: { depth: 'rest' },
    name: 'look',
    why: 'posidle has not looked at everything since then',
  },
  {
    title: 'a look that began before the trigger',
    look: { lookedAt: 58_999 },
    state: { trigger: QUIET },
    name: 'look',
    why: 'posidle has not looked at everything since then',
  },
  {
    title: 'a pos file that is away',
    look: { posFiles: [{ path: POS, kind: 'missing' }] },
    name: 'pos-file',
    why: `${POS} is not there`,
  },
  {
    title: 'a pos file that cannot be read',
    look: { posFiles: [{ path: POS, kind: 'unreadable', error: 'EIO' }] },
    name: 'pos-file',
    why: `${POS} cannot be read: EIO`,
  },
  {
    title: 'an empty pos file',
    look: { posFiles: [{ path: POS, kind: 'empty' }] },
    name: 'pos-file',
    why: `${POS} is empty for now`,
  },
  {
    title: 'a source whose files cannot be listed',
    look: followed({ unknown: 'EACCES' }),
    name: 'pos-file',
    why: `posidle cannot tell which files belong to ${POS}: EACCES`,
  },
  {
    title: 'a file that cannot be looked at',
    files: [[entry(), { error: 'EACCES' }]],
    name: 'pos-file',
    why: `${LOG} cannot be looked at by posidle`,
  },
  {
    title: 'a worker that starts, as its witness says',
    look: said(alive({ ready: false })),
    name: 'worker',
    why: '1-12.sock it has not started all its inputs',
  },
  {
    title: 'a file with lines left',
    files: [behind],
    name: 'unread',
    why: /app.log: not read to its end \(20 B\)$/,
  },
  {
    title: 'a file with lines left, as a witness says',
    look: said(alive({ files: [sight({ pos: 40 })] })),
    name: 'unread',
    why: '/log/a.log: not read to its end (60 B)',
  },
  {
    title: 'a file that in_tail has yet to find',
    look: followed({ files: [newFile] }),
    name: 'unfound',
    why: '/new: Fluentd has not found it (5 B)',
  },
  {
    title: 'a Fluentd that is not proven',
    look: { fluentd: running({ proof: 'none' }) },
    name: 'fluentd',
    why: /^pid 4242 may not be the right fluentd/,
  },
  {
    title: 'too short a time since a call that does not say that main has ended',
    state: { trigger: SIGTERM },
    name: 'settle',
    why: 'everything is read; posidle waits for `settle` to see whether it stays so',
  },
  {
    title: 'records that Fluentd keeps, until it emits them by itself',
    before: said(alive()),
    look: said(alive({ held: [{ class: 'Fluent::Plugin::ConcatFilter', n: 2 }] })),
    rules: { tail: { ...DEFAULT_TAIL, multilineFlush: 60_000 } },
    state: { trigger: QUIET },
    name: 'settle',
    why: 'Fluent::Plugin::ConcatFilter keeps 2 records',
  },
  {
    title: 'chunks that nobody has flushed',
    look: { buffers: onDisk(7) },
    name: 'flush',
    why: 'everything is read, but not flushed yet',
  },
  {
    title: 'a buffer that nobody sees and nobody has flushed',
    look: { buffers: IN_MEMORY },
    name: 'flush',
    why: 'everything is read, but not flushed yet',
  },
  {
    title: 'a buffer that nobody sees of a Fluentd in another container',
    look: { fluentd: REMOTE, buffers: IN_MEMORY },
    name: 'flush',
    why: 'everything is read, but not flushed yet',
  },
  {
    title: 'chunks that were flushed, and are still there',
    look: { buffers: onDisk(7, 8) },
    state: flushedAt(50_000),
    name: 'buffers',
    why: 'out holds 2 chunks (15 B)',
  },
  {
    title: 'chunks of an output that retries, flushed or not',
    look: said(alive({ outputs: [{ ...holding('a'), retry: true }] })),
    name: 'buffers',
    why: 'out (Fluent::Plugin::HTTPOutput) holds 1 chunk (10 B)',
  },
];

describe('the drain is kept open by', () => {
  test.each(GATES)('$title ($name)', ({ name, why, ...change }) => {
    expect(gateIn(change)).toEqual({ name, why: typeof why === 'string' ? why : expect.stringMatching(why) });
  });
});

describe('of two closed gates the first is told', () => {
  /** One way to close each gate, in their order. */
  const closed: readonly (Change & { readonly name: string })[] = [
    { name: 'fluentd', look: { fluentd: running({ successor: { pid: 5_000, startTime: '9' } }) } },
    { name: 'look', look: { lookedAt: 58_999 }, state: { trigger: SIGTERM } },
    { name: 'pos-file', look: followed({ unknown: 'EACCES', files: [newFile] }) },
    { name: 'unread', files: [behind] },
    { name: 'unfound', look: followed({ files: [newFile] }) },
    { name: 'settle', state: { trigger: SIGTERM } },
    { name: 'flush', look: { buffers: onDisk(7) } },
  ];

  test.each(closed.map(({ name }, index) => ({ name, index })))('$name', ({ name, index }) => {
    const all = closed.slice(index).toReversed();
    const merged = <Key extends keyof Change>(key: Key) =>
      Object.assign({}, ...all.map((one) => one[key] ?? {}));
    const files = all.findLast((one) => one.files !== undefined)?.files;
    const change = { look: merged('look'), state: merged('state'), ...(files && { files }) };
    expect(gateIn(change)?.name).toBe(name);
  });
});

describe('the drain is not kept open by', () => {
  const empty: Partial<Snapshot> = { posFiles: [{ path: POS, kind: 'empty' }] };
  test.each<Change & { title: string }>([
    { title: 'workers whose supervisor is gone', look: { fluentd: ORPHANED } },
    { title: 'a Fluentd in another container', look: { fluentd: REMOTE } },
    {
      title: 'a supervisor that never had a worker',
      before: { fluentd: running({ workers: [] }) },
      look: { fluentd: running({ workers: [] }) },
    },
    {
      title: 'an empty pos file, when a whole start timeout has passed',
      look: empty,
      state: { trigger: { by: 'start-timeout', at: 0 } },
    },
    {
      title: 'an empty file that in_tail has yet to find',
      look: followed({ files: [{ ...newFile, size: 0 }] }),
    },
    { title: 'a last line without its newline', files: [unfinished] },
    {
      title: 'a look that began with the trigger',
      look: { lookedAt: 59_000 },
      state: { trigger: QUIET },
    },
    {
      title: 'a chunk that Fluentd gave up',
      look: { buffers: { ...onDisk(), givenUp: [{ path: '/b', size: 1 }] } },
    },
    {
      title: 'records that come out only when Fluentd stops',
      look: said(alive({ held: [{ class: 'X', n: 2 }] })),
    },
    { title: 'the looks, where a witness has answered', files: [behind], look: said(alive()) },
    {
      title: 'a buffer that nobody sees, once it was flushed',
      look: { buffers: IN_MEMORY },
      state: flushedAt(50_000),
    },
    {
      title: 'a buffer that nobody sees below a wrapper, which SIGUSR1 would end',
      before: { fluentd: WRAPPER },
      look: { fluentd: WRAPPER, buffers: IN_MEMORY },
    },
    {
      title: 'a buffer that nobody sees of a Fluentd that nobody can ask for a flush',
      look: { fluentd: { ...REMOTE, isDeaf: true }, buffers: IN_MEMORY },
    },
    {
      title: 'the settle time, where the kubelet’s SIGTERM says that main has ended',
      state: { trigger: SIGTERM },
      rules: { role: 'native-sidecar' },
    },
    ...(['quiet', 'done-process', 'done-file', 'deserted', 'start-timeout'] as const).map((by) => ({
      title: `the settle time, where the trigger says that main has ended (${by})`,
      state: { trigger: { by, at: 59_000 } },
    })),
  ])('$title', (change) => {
    expect(gateIn(change)).toBeUndefined();
  });
});

test.each([
  ['after the last movement counts', 50_001, undefined],
  ['at the time of the last movement counts', 50_000, undefined],
  ['before the last movement does not count', 49_999, 'flush'],
])('a flush %s', (_, when, name) => {
  const looks = [0, 50_000, NOW].map((now, index) =>
    snapshot(now, [[at(index === 0 ? 90 : 100)]], { buffers: IN_MEMORY }),
  );
  expect(drainGate(draining(flushedAt(when)), seen(looks), policy())?.name).toBe(name);
});

describe('at rest', () => {
  test('the first condition of "everything read" that does not hold is told', () => {
    const gate = (change: Change) => readGate(observedIn(change), policy());
    expect(gate({})).toBeUndefined();
    expect(gate({ files: [unfinished] })).toBeUndefined();
    expect(gate({ look: { depth: 'rest', buffers: undefined } })).toBeUndefined();
    expect(gate({ files: [behind] })).toMatchObject({ name: 'unread', why: expect.stringMatching(/20 B/) });
    expect(gate({ look: followed({ files: [newFile] }) })?.why).toMatch(/^\/new/);
    expect(gate({ look: { posFiles: [{ path: POS, kind: 'empty' }] } })?.name).toBe('pos-file');
  });

  test('bytes are left in files that are behind, and in files that wait to be found', () => {
    const observed = observedIn({
      files: [behind, [entry({ path: '/read', inode: '8' })]],
      look: followed({ files: [newFile] }),
    });
    expect([bytesLeft(observed), hasBytesLeft(observed)]).toEqual([25, true]);
  });

  test('none are known to be left of a file that cannot be looked at', () => {
    const observed = observedIn({ files: [[entry(), { error: 'EACCES' }]] });
    expect([bytesLeft(observed), hasBytesLeft(observed)]).toEqual([0, false]);
  });
});

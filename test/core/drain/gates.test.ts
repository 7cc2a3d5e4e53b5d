import { describe, expect, test } from 'vitest';
import { drainGate, pendingNow } from '../../../src/core/drain/gates.ts';
import type { Policy } from '../../../src/core/drain/policy.ts';
import type { Draining, Trigger } from '../../../src/core/drain/state.ts';
import type { Snapshot } from '../../../src/core/look/snapshot.ts';
import type { FluentdReading } from '../../../src/core/progress/fluentd-reading.ts';
import type { PendingChunks } from '../../../src/core/progress/progress.ts';
import {
  ABSENT,
  draining,
  entry,
  fileOf,
  IN_MEMORY,
  LOG,
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
import { holding } from '../../support/said.ts';
import { alive, gone, NOT_BELIEVED, SILENT } from '../../support/witnesses.ts';
import { EMPTY, followed, MISSING, said, tailRules, unfound, unreadable } from '../worlds.ts';

/** A change to a world in which every gate is open. */
interface Change {
  readonly files?: readonly Watched[];
  /** The files of the look before, if they were others. */
  readonly were?: readonly Watched[];
  readonly before?: Partial<Snapshot>;
  readonly look?: Partial<Snapshot>;
  readonly state?: Partial<Draining>;
  readonly rules?: Partial<Policy>;
}

const NOW = 60_000;
const at = (position: number) => entry({ position });
const behind: Watched = [at(80), fileOf(entry())];
const unfinished: Watched = [at(80), { atPath: { inode: '7', size: 100 }, newlineLeft: false }];
const unseen: Watched = [entry(), { error: 'EACCES' }];
const by = (by: Trigger['by']) => ({ trigger: { by, at: 59_000 } });
const [SIGTERM, QUIET] = [by('SIGTERM'), by('quiet')];
const TOLD_TO_STOP: Partial<Snapshot> = { requests: [{ by: 'SIGTERM', at: 59_000 }] };
const AWAITED = { hasDoneFile: true, quiet: 'off' } as const;
const FLUSHED = { flushedAt: 50_000 };
const looked = (look: Partial<Snapshot>, state = {}): Change => ({ look, state });
const fluentd = (found: FluentdReading, look: Partial<Snapshot> = {}) => looked({ fluentd: found, ...look });
const always = (found: FluentdReading, look = {}) => ({
  ...fluentd(found, look),
  before: { fluentd: found },
});
const REPLACED = running({ successor: { pid: 5_000, startTime: '9' } });
const STARTING = running({ isStarting: true, workers: [{ pid: 5_000, startTime: '9' }] });
const ONE_OF_TWO = { ...STARTING, workers: [...STARTING.workers, { pid: 6_000, startTime: '9' }] };
const ANSWERED = said(alive());
const CHUNK = { path: '/b', size: 1 };
const RETRYING = { ...holding('a'), retry: true };
const HIDDEN = { buffers: IN_MEMORY };
const witnessed = (changed: object) => looked(said(alive(changed)));

/** Everything has been read for a minute, and there is no buffer. */
function observedIn({ files = [[entry()]], were = files, look = {}, before = {}, rules = {} }: Change) {
  return seen([snapshot(0, were, before), snapshot(NOW, files, look)], policy(rules));
}

function gateIn(change: Change) {
  return drainGate(draining(change.state), observedIn(change), policy(change.rules));
}

test('every gate is open if everything has been read for the settle time and all buffers are empty', () => {
  expect(gateIn({})).toBeUndefined();
});

const concat = { kept: [{ class: 'Concat', n: 2 }] };
const emitting = { kept: [{ class: 'Concat', n: 2, emits: 60 }] };

test.each<[string, string, Change]>([
  ['no Fluentd', 'fluentd: no fluentd runs', fluentd(ABSENT)],
  ['a wrapper whose Fluentd has ended', 'fluentd: Fluentd has ended', fluentd(WRAPPER)],
  ['a Fluentd that is being replaced', 'fluentd: .* by pid 5000', fluentd(REPLACED)],
  ['a worker that has not opened its pos file', 'worker: .* yet', fluentd(STARTING)],
  ['one of two workers, where one witness answers', 'worker: .* yet', fluentd(ONE_OF_TWO, ANSWERED)],
  ['a supervisor without its worker', 'worker: .* is gone', fluentd(running({ workers: [] }))],
  [
    'a Fluentd whose witness cannot be asked yet',
    'worker: Fluentd runs, but posidle can ask no witness',
    fluentd({ ...REMOTE, isStarting: true }),
  ],
  ['a look that did not take in everything', 'look', looked({ depth: 'light' })],
  ['a look that began before the trigger', 'look', looked({ lookedAt: 58_999 }, QUIET)],
  ['a witness that does not answer', 'worker: .*: its witness did not answer', looked(said(SILENT))],
  [
    'a witness that is not believed, without a pos file',
    'worker: .* does not believe',
    looked({ posFiles: [], ...said(NOT_BELIEVED) }),
  ],
  [
    'a look that began before main had ended',
    'look',
    looked({ lookedAt: 59_500 }, { ...SIGTERM, mainEndedAt: 59_800 }),
  ],
  ['main, where its file will tell its end', 'main', { look: TOLD_TO_STOP, state: SIGTERM, rules: AWAITED }],
  [
    'chunks that were flushed before main had ended',
    'flush',
    looked({ buffers: onDisk(7) }, { ...FLUSHED, mainEndedAt: 55_000 }),
  ],
  ['a pos file that is away', `pos-file: ${POS} is not there`, looked(MISSING)],
  ['a pos file that cannot be read', 'pos-file: .*: EIO', looked(unreadable('EIO'))],
  ['an empty pos file', `pos-file: ${POS} is empty for now`, looked(EMPTY)],
  [
    'a source that cannot be listed',
    'pos-file: posidle cannot tell .*: EACCES',
    looked(followed({ unknown: 'EACCES' })),
  ],
  ['a file that cannot be looked at', `pos-file: ${LOG} cannot`, { files: [unseen] }],
  ['a worker that starts', 'worker: worker .pid 12.: it has not started', witnessed({ ready: false })],
  [
    'a worker that has ended, or does not run yet, while another one runs',
    'worker: Fluentd lacks 1 worker',
    looked(said(gone({ worker: 1 }), alive({ worker: 0, workers: 2 }, '2-13.sock'))),
  ],
  ['a file with lines left', 'unread: .*app.log: .* \\(20 B\\)', { files: [behind] }],
  ['a file that in_tail has yet to find', 'unfound: /new: .* \\(5 B\\)', looked(unfound(5))],
  ['a Fluentd that is not proven', 'fluentd: pid 4242 may not', fluentd(running({ proof: 'none' }))],
  ['too short a time since a call that does not say that main has ended', 'settle', looked({}, SIGTERM)],
  ['records that Fluentd emits later', 'settle: .* 2 records', witnessed(emitting)],
  ['records that a thread emits', 'unread: records are on their way .*2 threads', witnessed({ moving: 2 })],
  ['chunks that nobody has flushed', 'flush', looked({ buffers: onDisk(7) })],
  ['a buffer that nobody sees and nobody has flushed', 'flush', looked(HIDDEN)],
  ['a buffer that nobody sees in another container', 'flush', fluentd(REMOTE, HIDDEN)],
  [
    'flushed chunks that are still there',
    'buffers: .*15 B',
    looked({ buffers: onDisk(7, 8) }, { ...FLUSHED, mainEndedAt: 50_000 }),
  ],
  ['chunks of an output that retries', 'buffers: out', witnessed({ outputs: [RETRYING] })],
])('the drain is kept open by %s', (_, told, change) => {
  const { name, why } = gateIn(change) ?? {};
  expect(`${name}: ${why}`).toMatch(new RegExp(`^${told}`));
});

describe('the first of two closed gates is reported', () => {
  /** One way to close each gate, in their order. */
  const closed: readonly (Change & { readonly name: string })[] = [
    { name: 'fluentd', ...fluentd(REPLACED) },
    { name: 'look', look: { lookedAt: 58_999 }, state: SIGTERM },
    { name: 'pos-file', look: followed({ unknown: 'EACCES', files: unfound(5).followed[0]?.files ?? [] }) },
    { name: 'unread', files: [behind] },
    { name: 'unfound', look: unfound(5) },
    { name: 'settle', state: SIGTERM },
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

test.each<[string, Change]>([
  ['a Fluentd in another container', fluentd(REMOTE)],
  ['a supervisor that never had a worker', always(running({ workers: [] }))],
  ['an empty pos file, when a whole start timeout has passed', looked(EMPTY, by('start-timeout'))],
  ['a witness that is not believed, where the files say what is read', looked(said(NOT_BELIEVED))],
  ['an empty file that in_tail has yet to find', looked(unfound(0))],
  ['a last line without its newline', { files: [unfinished] }],
  ['a look that began with the trigger', looked({ lookedAt: 59_000 }, QUIET)],
  ['a chunk that Fluentd gave up', looked({ buffers: { ...onDisk(), givenUp: [CHUNK] } })],
  ['records that come out only when Fluentd stops', witnessed(concat)],
  ['chunks of a worker that has ended', looked(said(gone({ ends: [holding('a')] }), alive()))],
  ['a worker without its pos file open, where its witness answers', fluentd(STARTING, ANSWERED)],
  ['the looks, where a witness has answered', { files: [behind], look: ANSWERED }],
  ['a buffer that nobody sees, once it was flushed', looked(HIDDEN, FLUSHED)],
  ['a buffer that nobody sees below a wrapper, which SIGUSR1 would end', always(WRAPPER, HIDDEN)],
  ...(['quiet', 'done-file', 'main-ended', 'start-timeout'] as const).map((one): [string, Change] => [
    `the settle time after main has ended (${one})`,
    { state: by(one) },
  ]),
])('the drain is not kept open by %s', (_, change) => {
  expect(gateIn(change)).toBeUndefined();
});

test.each([
  ['after the last movement counts', 50_001, undefined],
  ['at the time of the last movement counts', 50_000, undefined],
  ['before the last movement does not count', 49_999, 'flush'],
])('a flush %s', (_, flushedAt, name) => {
  const looks = [0, 50_000, NOW].map((now, index) =>
    snapshot(now, [[at(index === 0 ? 90 : 100)]], { buffers: IN_MEMORY }),
  );
  expect(drainGate(draining({ flushedAt }), seen(looks), policy())?.name).toBe(name);
});

describe('the chunks that have to go', () => {
  const two = looked({ buffers: onDisk(1, 1) });
  const keeps = witnessed(emitting);
  const pendingIn = (change: Change, pending?: PendingChunks) =>
    pendingNow(draining({ pending }), observedIn(change));

  test('are those that exist when everything is read, and no later ones', () => {
    const pending = pendingIn(looked({ buffers: onDisk(1) }));
    expect(pending?.ids).toEqual(new Set(['0'.repeat(32)]));
    expect(pendingIn(two, pending)).toBe(pending);
    expect(gateIn({ ...two, state: { flushedAt: NOW, pending } })?.why).toMatch(/ 1 chunk /);
    expect(
      gateIn({ ...two, state: { pending: { version: '0', ids: new Set(), taken: 0 } } }),
    ).toBeUndefined();
  });

  test('stay the same if a look was not full, or if Fluentd keeps only later records', () => {
    const pending = { version: 'other', ids: new Set(['a']), taken: 0 };
    expect(pendingIn(looked({ depth: 'light', buffers: undefined }), pending)).toBe(pending);
    const known = { ...pending, version: pendingIn(looked(ANSWERED))?.version ?? '' };
    expect(pendingIn(keeps, known)).toBe(known);
  });

  test('are known while a filter keeps what comes out only when Fluentd stops', () => {
    expect(pendingIn(witnessed(concat))).toBeDefined();
  });

  test.each<[string, Change]>([
    ['lines are unread', { files: [behind] }],
    ['a file is not found', looked(unfound(5))],
    ['a pos file is unknown', looked(EMPTY)],
    ['a filter will give on what it keeps', keeps],
    ['a multiline record may wait for its next line', { rules: tailRules({ multilineFlush: 60_000 }) }],
    ['in_tail may read the rest of a renamed file', { were: [[entry()]], files: [[entry(), {}]] }],
  ])('are not known while %s: later ones may hold these lines', (_, change) => {
    expect(pendingIn(change)).toBeUndefined();
    expect(pendingIn(change, { version: '0', ids: new Set(), taken: 0 })).toBeUndefined();
  });
});

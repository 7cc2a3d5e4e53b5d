import { describe, expect, test } from 'vitest';
import {
  describeOutcome,
  EXIT,
  exitCodeOf,
  type Outcome,
  outcomeOf,
  verdictOf,
} from '../../../src/core/drain/outcome.ts';
import type { Policy } from '../../../src/core/drain/policy.ts';
import type { DrainResult, End, Trigger } from '../../../src/core/drain/state.ts';
import type { Snapshot } from '../../../src/core/look/snapshot.ts';
import { listed } from '../../../src/core/progress/describe.ts';
import type { DrainRequest } from '../../../src/core/progress/drain-request.ts';
import { type Doubt, type Left, type Progress, pendingChunks } from '../../../src/core/progress/progress.ts';
import { progressFromWitnesses, type Witness } from '../../../src/core/witness/reports.ts';
import { ABSENT, entry, policy, running, seen, snapshot, type Watched } from '../../support/builders.ts';
import { schemaIn } from '../../support/json-schema.ts';
import { output } from '../../support/said.ts';
import { alive, gone } from '../../support/witnesses.ts';
import { said, sized } from '../worlds.ts';

const behind = sized(120, '/behind');
const STOPPED = { name: 'stopped', since: 9_000, pending: undefined } as const;
const RESULT: DrainResult = { trigger: { by: 'done-file', at: 0 }, pending: undefined };

interface Facts {
  readonly files?: readonly Watched[];
  readonly look?: Partial<Snapshot>;
  /** In the three looks before it. */
  readonly before?: Partial<Snapshot>;
  /** In the last of them. */
  readonly between?: Partial<Snapshot>;
  readonly result?: DrainResult | undefined;
  readonly rules?: Partial<Policy>;
}

/** The outcome of an end. A witness says that nothing is left, unless the look says something else. */
function outcome(
  kind: End['kind'],
  { files = [[entry()]], look = {}, before = {}, between = before, rules = {}, ...facts }: Facts = {},
): Outcome {
  const result = 'result' in facts ? facts.result : RESULT;
  const end = { kind, why: 'why' } as End;
  const { trigger, pending } = result ?? {};
  const stopped = { ...STOPPED, end, trigger, pending };
  const last = snapshot(9_000, files, { fluentd: ABSENT, ...said(gone()), ...look });
  const durations = { watching: 1_000.4, stopping: 4_200 };
  return outcomeOf(stopped, {
    seen: seen(
      [
        snapshot(0, files, { ...said(alive()), ...before }),
        snapshot(4_000, files, { ...said(alive()), ...before }),
        snapshot(8_000, files, { ...said(alive()), ...between }),
        last,
      ],
      policy(rules),
    ),
    policy: policy(rules),
    durations,
  });
}

const OUTSIDE = { reports: undefined } as const;

describe('an outcome', () => {
  test('has the end, the trigger, the word, and the findings of the last look', () => {
    expect(outcome('stopped')).toEqual({
      version: 1,
      end: 'stopped',
      why: 'why',
      outcome: 'drained',
      trigger: 'done-file',
      left: { count: 0, bytes: 0, worst: [] },
      doubts: { count: 0, bytes: 0, worst: [] },
      files: 1,
      outputs: [],
      durationsMs: { watching: 1_000, stopping: 4_200 },
    });
  });

  test.each([
    ['the drain began', { result: { ...RESULT, trigger: { by: 'http', at: 8_500 } } }],
    ['somebody called, and before this last look', { result: undefined }],
    [
      'main ended, of which its own end says nothing',
      { result: { ...RESULT, trigger: { by: 'deserted', at: 0 } } },
    ],
    ['main ended, after a signal', { result: { ...RESULT, trigger: { by: 'SIGTERM', at: 0 } } }],
    ['main ended for all that silence tells', { result: { ...RESULT, trigger: { by: 'quiet', at: 0 } } }],
  ] as const)('has the doubt that Fluentd had ended by itself before %s', (_, facts) => {
    const look = { ...said(gone()), requests: [{ by: 'http', at: 8_500 } as const] };
    expect(outcome('ended-by-itself', { ...facts, look })).toMatchObject({
      doubts: { worst: [{ kind: 'ended-early' }] },
    });
  });

  test.each<[string, End['kind']]>([
    ['before Fluentd ended', 'ended-by-itself'],
    ['before posidle stopped Fluentd', 'stopped'],
    ['while Fluentd still runs', 'left-to-kubelet'],
  ])('has the doubt that the worker which reads had ended by itself, %s', (_, kind) => {
    const [reads, sends] = [{ readers: ['/pos'] }, { readers: [] }];
    const other = alive(sends, '2-13.sock');
    const isOver = kind !== 'left-to-kubelet';
    const look = (at: number, ...witnesses: readonly Witness[]) =>
      snapshot(at, [[entry()]], said(...witnesses));
    const last = look(9_000, gone(reads), isOver ? gone(sends, '2-13.sock') : other);
    const fluentd = isOver ? ABSENT : running();
    const ended = seen([look(0, alive(reads), other), look(8_000, gone(reads), other), { ...last, fluentd }]);
    const doubted = (at: number) => {
      const trigger = { by: 'done-file', at } as const;
      const stopped = { ...STOPPED, end: { kind, why: 'why' }, trigger };
      return outcomeOf(stopped, { seen: ended, policy: policy(), durations: {} }).doubts.worst;
    };
    expect(doubted(0)).toEqual([]);
    expect(doubted(1_000)).toMatchObject([{ kind: 'ended-early' }]);
  });

  describe('begins with a doubt if nobody said that main had ended', () => {
    const word = (
      by: Trigger['by'] | undefined,
      requests: readonly DrainRequest['by'][] = [],
      rules = {},
      at = 1,
    ) => {
      const result = by && { ...RESULT, trigger: { by, at: 0 } };
      const look = { ...said(gone()), requests: requests.map((one) => ({ by: one, at })) };
      return outcome('stopped', { result, look, rules });
    };

    const main = { pid: 7, startTime: '1' };
    type Mains = readonly (typeof main)[];
    const ofMain = (by: Trigger['by'], before: Mains, between: Mains, last = between) =>
      outcome('stopped', {
        result: { ...RESULT, trigger: { by, at: 0 } },
        before: { mains: before },
        between: { mains: between },
        look: { mains: last },
        rules: { doneProcess: true, doneProcessGone: 0, startTimeout: 0 },
      });

    test.each<[string, () => Outcome]>([
      ['posidle drain was called', () => word('drain', ['drain'])],
      ['two signals came', () => word('SIGTERM', ['SIGTERM', 'SIGINT'])],
      ['SIGINT came', () => word('SIGINT', ['SIGINT'])],
      ['nothing began the drain', () => word(undefined)],
      ['main was never seen', () => ofMain('done-process', [], [])],
      ['main runs', () => ofMain('done-process', [main], [main])],
      ['main refreshes its heartbeat file again', () => word('heartbeat')],
      [
        "main's process was still there when posidle stopped Fluentd",
        () => ofMain('SIGTERM', [main], [main], []),
      ],
      [
        'the done file came when Fluentd had been stopped',
        () => word('SIGTERM', ['SIGTERM', 'done-file'], {}, 8_500),
      ],
      ['it came then after a silence, which is a guess', () => word('quiet', ['done-file'], {}, 8_500)],
    ])('as where %s', (_, told) => {
      expect(told()).toMatchObject({ outcome: 'unproven', doubts: { worst: [{ kind: 'main-may-run' }] } });
    });

    test.each<[string, () => Outcome]>([
      ['somebody called for the end', () => word('http')],
      ['main no longer refreshes its heartbeat file', () => word('heartbeat', ['heartbeat'])],
      ['posidle drain was told so', () => word('main-ended', ['main-ended'])],
      ['somebody called after SIGTERM', () => word('SIGTERM', ['SIGTERM', 'http'])],
      ['the done file came after SIGTERM', () => word('SIGTERM', ['SIGTERM', 'done-file'])],
      ["main's process was gone after SIGTERM", () => ofMain('SIGTERM', [main], [])],
      ["main's process is gone", () => ofMain('done-process', [main], [])],
    ])('but not if %s', (_, told) => {
      expect(told()).toMatchObject({ outcome: 'drained' });
    });

    test('and no other one if Fluentd ended by itself', () => {
      const result = { ...RESULT, trigger: { by: 'drain', at: 0 } } as const;
      const { doubts } = outcome('ended-by-itself', { result, look: said(gone()) });
      expect(doubts.worst.map(({ kind }) => kind)).toEqual(['main-may-run']);
    });
  });

  const left: Facts = { files: [behind], look: OUTSIDE };
  const keeps: Facts = { look: { fluentd: running(), ...said(alive({ kept: [{ class: 'X', n: 1 }] })) } };
  const runs: Facts = { look: { fluentd: running(), ...said(alive()) } };
  test.each<[End['kind'], Facts, Outcome['outcome'], number, number]>([
    ['stopped', {}, 'drained', 0, 0],
    ['ended-by-itself', {}, 'drained', 0, 0],
    ['left-to-kubelet', runs, 'drained', 0, 0],
    ['stopped', { look: OUTSIDE }, 'unproven', 0, 3],
    ['killed', {}, 'unproven', 0, 3],
    ['survived', {}, 'unproven', 0, 3],
    ['stopped', left, 'not-drained', 3, 3],
    ['stopped', keeps, 'not-drained', 3, 3],
    ['ended-by-itself', keeps, 'not-drained', 3, 3],
    ['left-to-kubelet', keeps, 'not-drained', 3, 3],
    ['no-fluentd', {}, 'unproven', 4, 4],
    ['ambiguous', {}, 'unproven', 4, 4],
    ['not-permitted', {}, 'unproven', 4, 4],
    ['not-proven', {}, 'unproven', 4, 4],
  ])(
    'of the end %s with %o is %s, with the exit code %i, and %i under --strict',
    (kind, facts, word, ...codes) => {
      const told = outcome(kind, facts);
      expect(told.outcome).toBe(word);
      expect([false, true].map((strict) => exitCodeOf(told, { strict }))).toEqual(codes);
    },
  );
});

test('the exit codes are what scripts and manifests rely on', () => {
  expect(EXIT).toEqual({ ok: 0, bug: 1, usage: 2, notDrained: 3, cannotWork: 4 });
});

describe('the sentence', () => {
  const left: Facts = { files: [behind], look: OUTSIDE };
  const unfound = { look: said(gone({ closed: [], unfound: [{ path: '/new', size: 3, inode: 1 }] })) };
  test.each<[End['kind'], Facts, string | RegExp]>([
    ['stopped', {}, 'why after 4.2 s; drained: 1 file read'],
    ['stopped', { look: OUTSIDE }, /^why after 4.2 s; unproven: nobody looked inside Fluentd/],
    ['stopped', left, /; not drained: \/behind: .* \(20 B\) \[unread\]; doubted: .* \[no-witness\]$/],
    ['stopped', unfound, /; not drained: \/new: .* \(3 B\) \[unfound\]$/],
    [
      'survived',
      {},
      /^why after 4.2 s; unproven: Fluentd did not end: nobody saw what it still held \[killed\]$/,
    ],
    ['ended-by-itself', {}, 'why; drained: 1 file read'],
    ['left-to-kubelet', {}, 'why; drained: 1 file read'],
    ['no-fluentd', left, 'why'],
    ['not-permitted', left, 'why'],
  ])('of %s with %o', (kind, facts, sentence) => {
    const told = describeOutcome(outcome(kind, facts));
    if (typeof sentence === 'string') expect(told).toBe(sentence);
    else expect(told).toMatch(sentence);
  });

  test('counts lines and records, if a witness did', () => {
    const none = { left: 0, secondary: 0, aside: 0, dropped: 0, held: 0 };
    const http = output({ id: 'object:1', type: 'http', receipt: { ...none, took: 20, delivered: 20 } });
    const look = said(gone({ lines: 20, ends: [http, output({ id: 'nobody counted' })] }));
    expect(describeOutcome(outcome('ended-by-itself', { look }))).toBe(
      'why; drained: 20 lines read from 1 file; http: 20 taken, 20 delivered',
    );
  });

  test("names what buffers hold of Fluentd's own log, so that the numbers add up", () => {
    const none = { left: 0, secondary: 0, aside: 0, dropped: 0 };
    const receipt = { ...none, took: 21, own: 1, delivered: 20, held: 1 };
    const look = said(gone({ lines: 20, ends: [output({ id: 'object:1', type: 'http', receipt })] }));
    expect(describeOutcome(outcome('ended-by-itself', { look }))).toBe(
      "why; drained: 20 lines read from 1 file; http: 21 taken (1 of Fluentd's own log), 20 delivered, 1 held",
    );
  });

  test('counts the time until Fluentd was killed', () => {
    const killed = { ...outcome('killed'), durationsMs: { stopping: 4_000, killing: 1_000 } };
    expect(describeOutcome(killed)).toContain('after 5.0 s');
  });
});

describe('the schema of an outcome', () => {
  const { schema, faultsIn } = schemaIn('src/core/drain/outcome.schema.json');
  const ends = (schema.properties?.['end']?.enum ?? []) as readonly End['kind'][];
  const asJson = (told: Outcome): object => JSON.parse(JSON.stringify(told));
  const counted = output({
    receipt: { took: 9, left: 0, delivered: 9, secondary: 0, aside: 0, dropped: 0, held: 0 },
  });

  test.each(ends)('takes that of %s', (kind) => {
    const read = outcome(kind, { look: said(gone({ lines: 9, ends: [counted] })) });
    for (const told of [read, outcome(kind, { files: [behind], look: OUTSIDE })])
      expect(faultsIn(asJson(told))).toEqual([]);
  });

  test('takes each field of what is left or doubted', () => {
    const left = listed<Left>([
      { kind: 'unread', path: '/a.log', bytes: 9 },
      { kind: 'kept', where: 'concat', records: 1, emitsAfter: 4_000 },
      { kind: 'moving', threads: 1 },
      { kind: 'unstarted', where: 'worker (pid 12)' },
      { kind: 'held', output: 'http', chunks: 1, bytes: 9, ids: ['5f'], isOwn: false, next: 'retry' },
    ]);
    const doubts = listed<Doubt>([
      { kind: 'read-from', about: '/a.log', bytes: 9, why: 'Fluentd began at byte 9' },
    ]);
    expect(faultsIn(asJson({ ...outcome('stopped'), left, doubts }))).toEqual([]);
  });

  test('takes no other one', () => {
    const good = asJson(outcome('stopped', { look: OUTSIDE }));
    expect(faultsIn({ ...good, version: 2 })).toEqual(['version: 2']);
    expect(faultsIn({ ...good, outcome: 'undrained' })).toEqual(['outcome: "undrained"']);
    const durationsMs = { draining: 0.5 };
    expect(faultsIn({ ...good, durationsMs })).toEqual(['durationsMs.draining: 0.5']);
    expect(faultsIn({ ...good, drained: true })).toEqual(['drained: unknown']);
    expect(faultsIn({ version: 1 })).toEqual(['outcome: missing']);
  });
});

const DOUBT: Doubt = { kind: 'logged', about: 'out_http.rb', why: 'Fluentd logged it' };
const KEPT: Left = { kind: 'kept', where: 'concat', records: 1 };
const UNREAD: Left = { kind: 'unread', path: '/a', bytes: 1 };

function held(...ids: readonly string[]): Left {
  return { kind: 'held', output: 'out', chunks: ids.length, bytes: 1, ids, next: 'flush' };
}

/** What a witness says that has taken 20 records, but for these changes. */
function progress(changed: Partial<Progress> = {}): Progress {
  return { ...progressFromWitnesses({ at: 0, witnesses: [alive()] }), taken: 20, ...changed };
}

test('a chunk that came out only when Fluentd stopped is left, if a plugin may have kept its records', () => {
  const pending = pendingChunks(progress());
  const came = (kind: Doubt['kind'], end: End['kind']) =>
    verdictOf(progress({ left: [held('new')], doubts: [{ ...DOUBT, kind }] }), pending, end).word;
  expect(came('may-hold', 'stopped')).toBe('not-drained');
  expect(came('logged', 'stopped')).toBe('unproven');
  // Another source may have written it, and Fluentd sends it later.
  expect(came('may-hold', 'left-to-kubelet')).toBe('unproven');
});

describe('chunks that came after everything was read', () => {
  const pending = pendingChunks(progress({ left: [held('a'), UNREAD] }));
  const left = (...found: readonly Left[]) => verdictOf(progress({ left: found }), pending, 'stopped').left;
  const unnamed: Left = { ...held(), ids: undefined } as Left;

  test('do not count, because others may feed the same output all the time, and hide nothing else', () => {
    expect(left(held('b'))).toEqual([]);
    expect(left(held('a', 'b'))).toEqual([held('a')]);
    expect(left(UNREAD, KEPT)).toEqual([UNREAD, KEPT]);
  });

  const own = { ...held('c'), isOwn: true } as Left;
  test.each<[string, Partial<Progress>, Partial<typeof pending>?]>([
    [
      "a buffer has taken records of an input since, but for a buffer of Fluentd's own log",
      { left: [held('b'), own], taken: 21 },
    ],
    ['nobody counted what buffers took', { taken: undefined }, { taken: undefined }],
    ['lines came in after that', { version: 'n' }],
  ])('count if %s', (_, later, before = {}) => {
    const found = progress({ left: [held('b')], ...later });
    expect(verdictOf(found, { ...pending, ...before }, 'stopped').left).toEqual([held('b')]);
  });

  test('count if not all have an id', () => {
    const before = pendingChunks(progress({ left: [unnamed] }));
    expect(verdictOf(progress({ left: [held('b')] }), before, 'stopped').word).toBe('not-drained');
    expect(left(unnamed)).toEqual([unnamed]);
  });
});

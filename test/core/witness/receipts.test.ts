import { describe, expect, test } from 'vitest';
import { describeReceipts } from '../../../src/core/progress/describe.ts';
import { progressFromWitnesses, type Witness } from '../../../src/core/witness/reports.ts';
import { output } from '../../support/said.ts';
import { alive, gone, SILENT } from '../../support/witnesses.ts';

const NONE = { took: 0, left: 0, delivered: 0, secondary: 0, aside: 0, exhausted: 0, held: 0 };
const http = (records: object, changed: object = {}) =>
  output({ id: 'object:1', type: 'http', receipt: { ...NONE, ...records }, ...changed });
const progress = (...witnesses: readonly Witness[]) => progressFromWitnesses({ at: 1, witnesses });
const doubts = (said: object) => progress(alive(said)).doubts;
const sums = (...witnesses: readonly Witness[]) => describeReceipts(progress(...witnesses).outputs);

describe('numbers that are a doubt', () => {
  test.each([
    ['retries used up', { took: 9, exhausted: 9 }, 'undelivered', '9 records lost (retries used up)'],
    ['a full buffer', { took: 9, overflown: 9 }, 'undelivered', '9 records lost (its buffer was full)'],
    [
      'an error',
      { took: 1, unrecoverable: 1 },
      'undelivered',
      '1 record lost (an error that no retry helps)',
    ],
    ['those of a secondary', { took: 1, secondary: 1 }, 'undelivered', '1 record given to its secondary'],
    ['those set aside', { took: 2, aside: 2 }, 'undelivered', '2 records set aside'],
    [
      'a balance that does not hold',
      { took: 9, delivered: 4 },
      'unbalanced',
      '5 records not taken, or missing',
    ],
    ['more than there were', { held: 20 }, 'unbalanced', '20 records more than it took'],
  ])('%s', (_, records, kind, why) => {
    for (const witness of [alive({ outputs: [http(records)] }), gone({ ends: [http(records)] })])
      expect(progress(witness).doubts).toMatchObject([{ kind, about: 'http', why }]);
  });

  test('a refused batch of which a part is in the buffer: one number', () => {
    const told = doubts({ refused: 100, outputs: [http({ took: 0, held: 99 })] });
    expect(told).toMatchObject([{ kind: 'unbalanced', why: '1 record not taken, or missing' }]);
    expect(doubts({ refused: 99, outputs: [http({ took: 0, held: 99 })] })).toMatchObject([
      { kind: 'unbalanced', why: 'a batch was refused, and as many records are in a buffer' },
    ]);
  });

  test('a refused batch without a trace in an output', () => {
    expect(doubts({ refused: 1, worker: 1 })).toMatchObject([
      { kind: 'unbalanced', about: 'worker 1 (pid 12)' },
    ]);
  });

  test('records on their way in a worker that ended', () => {
    expect(progress(gone({ moving: 1 })).doubts).toMatchObject([{ kind: 'kept' }]);
  });

  test('more workers than witnesses', () => {
    expect(doubts({ worker: 0, workers: 2 })).toMatchObject([{ kind: 'unwitnessed' }]);
    const both = [alive({ worker: 0, workers: 2 }), gone({ worker: 1, workers: 2 })];
    expect(progress(...both).doubts).toEqual([]);
  });
});

describe('so many workers are away', () => {
  const one = (worker: number) => ({ worker, workers: 2 });
  test.each<[string, number, readonly Witness[]]>([
    ['none of two that answer', 0, [alive(one(0)), alive(one(1))]],
    ['one that has ended', 1, [alive(one(0)), gone(one(1))]],
    ['one that was not seen yet', 1, [alive(one(0))]],
    ['none that has a successor', 0, [gone(one(1)), alive(one(0)), alive(one(1))]],
    ['none that is silent', 0, [alive(one(0)), SILENT]],
    ['the only one, which died', 1, [gone({ final: false })]],
    ['none whose witness failed', 0, [alive(one(0)), alive({ error: 'undefined method' }, '2-13.sock')]],
  ])('%s', (_, away, witnesses) => {
    expect(progress(...witnesses).away).toBe(away);
  });
});

test('records without a <match>, and lines of which a parser makes nothing, are a doubt', () => {
  expect(doubts({ unrouted: 2, unparsed: 1, worker: 1, workers: 1 })).toMatchObject([
    { kind: 'undelivered', about: 'worker 1 (pid 12)', why: '2 records lost (no <match> or rule for them)' },
    { kind: 'undelivered', about: 'worker 1 (pid 12)', why: '1 line gave no record' },
  ]);
});

test.each<[string, object]>([
  ['a balance that holds', { outputs: [http({ took: 5, left: 5, delivered: 8, held: 2 })] }],
  ['unknown numbers', { outputs: [http({ took: null, delivered: 9 })] }],
  [
    'an output without a buffer',
    { outputs: [http({}, { class: 'Fluent::Plugin::CopyOutput', n: null, receipt: { took: 7 } })] },
  ],
  ["events of Fluentd's own log", { outputs: [http({ took: 9, exhausted: 4, own: 9, only_own: true })] }],
  ['an old worker that counts nothing', { outputs: [output()], worker: 0 }],
])('no doubt comes from %s', (_, said) => {
  expect(doubts(said)).toEqual([]);
});

test('a balance is no doubt while records are on their way: these are left', () => {
  const moving = progress(alive({ moving: 1, outputs: [http({ took: 5, delivered: 9 })] }));
  expect(moving.doubts).toEqual([]);
  expect(moving.left).toEqual([{ kind: 'moving', threads: 1 }]);
});

test("what buffers took is counted without events of Fluentd's own log, and without outputs that have no buffer", () => {
  const copy = http({}, { class: 'Fluent::Plugin::CopyOutput', n: null, receipt: { took: 4 } });
  const own = http({ took: 5, own: 4, only_own: true });
  const outputs = [http({ took: 9, own: 2 }), http({ took: 1 }), own, copy];
  expect(progress(alive({ outputs })).taken).toBe(8);
  expect(progress(alive({ outputs: [] })).taken).toBe(0);
  expect(progress(alive({ outputs: [...outputs, output()] })).taken).toBeUndefined();
});

describe('the sums', () => {
  test('of workers side by side are those of each output', () => {
    const one = alive({ lines: 5, outputs: [http({ took: 5, delivered: 5 })] });
    const other = alive({ lines: 2, outputs: [http({ took: 2, held: 2 })] });
    expect(progress(one, other).lines).toBe(7);
    expect(sums(one, other)).toBe('http: 7 taken, 5 delivered, 2 held');
  });

  test('of a worker and the next one have what was passed on only once', () => {
    const first = gone({ ends: [http({ took: 10, held: 10 })] });
    const next = alive({ outputs: [http({ took: 5, left: 12, delivered: 17 })] });
    expect(sums(first, next)).toBe('http: 15 taken, 2 left over from before, 17 delivered');
  });

  test("pass nothing on where a buffer's start missed events", () => {
    const ends = [http({ took: 4, left: -1, held: 3 })];
    expect(sums(gone({ ends }))).toBe('http: 4 taken, 0 delivered, 3 held');
  });

  test('have all that one worker still holds, also beside what it found', () => {
    expect(sums(alive({ outputs: [http({ took: 5, left: 3, delivered: 4, held: 4 })] }))).toBe(
      'http: 5 taken, 3 left over from before, 4 delivered, 4 held',
    );
  });

  test('count nothing as passed on where one of the two numbers is unknown', () => {
    const held = (records: object) => gone({ ends: [http(records)] });
    expect(progress(held({ left: null, held: 10 })).outputs).toMatchObject([{ held: 10 }]);
    const next = alive({ outputs: [http({ left: 12 })] });
    expect(progress(held({ held: null }), next).outputs).toMatchObject([{ left: 12 }]);
  });

  test("leave out an output of Fluentd's own log that has the name of another one", () => {
    const own = http({ took: 9, own: 9, delivered: 9, only_own: true });
    expect(sums(alive({ outputs: [http({ took: 5, delivered: 5 }), own] }))).toBe(
      'http: 5 taken, 5 delivered',
    );
  });

  test('have the numbers of an output that a reload ended, and each closed buffer once', () => {
    const ends = [http({ took: 10, delivered: 10 }, { reloaded: true })];
    expect(sums(alive({ ends, outputs: [http({ took: 1, delivered: 1 })] }))).toBe(
      'http: 11 taken, 11 delivered',
    );
    expect(sums(gone({ ends, outputs: [http({}, { receipt: { took: 10 } })] }))).toBe(
      'http: 10 taken, 10 delivered',
    );
  });

  test("tell how many are of Fluentd's own log", () => {
    expect(sums(alive({ outputs: [http({ took: 9, own: 2, delivered: 9 })] }))).toBe(
      "http: 9 taken (2 of Fluentd's own log), 9 delivered",
    );
  });

  test('are unknown if one number is', () => {
    const [one] = progress(alive({ outputs: [http({ took: 5 }), http({ took: null })] })).outputs;
    expect(one).toMatchObject({ output: 'http', took: undefined, delivered: 0 });
  });
});

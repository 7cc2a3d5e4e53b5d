import { describe, expect, test } from 'vitest';
import { type BuffersReading, NO_BUFFERS, NOTHING_HELD } from '../../../src/core/fluentd/buffer-contents.ts';
import type { Chunk } from '../../../src/core/fluentd/chunk.ts';
import type { MonitoredOutput } from '../../../src/core/fluentd/monitor-agent.ts';
import {
  type Circumstances,
  hasTakenAll,
  isRefusing,
  keepLedger,
  type Ledger,
  NO_LEDGER,
} from '../../../src/core/observe/output-ledger.ts';
import { outputReading, told } from '../../support/builders.ts';

type Counters = Partial<MonitoredOutput>;

interface Look extends Partial<Circumstances> {
  /** undefined: posidle has not looked at the buffers. */
  readonly reading?: BuffersReading;
}

/** Each chunk of these tests holds ten bytes. */
const held = (chunks: number, sent: number): Counters => ({ chunks, sent, bytes: 10 * chunks });
const lost = (chunks: number) => ({ chunks, bytes: 10 * chunks });

describe('chunks', () => {
  test.each<{ title: string; looks: readonly Counters[]; thrownAway: number }>([
    {
      title: 'that are gone without being sent are thrown away',
      looks: [held(3, 0), held(3, 0), held(0, 0), held(0, 0)],
      thrownAway: 3,
    },
    {
      title: 'that are gone in part are thrown away in part',
      looks: [held(3, 0), held(3, 0), held(1, 0), held(1, 0)],
      thrownAway: 2,
    },
    {
      title: 'that are gone again later are added to those before',
      looks: [held(3, 0), held(3, 0), held(2, 0), held(2, 0), held(1, 0), held(1, 0)],
      thrownAway: 2,
    },
    {
      title: 'that are gone are counted once, however often that is seen',
      looks: [held(3, 0), held(3, 0), held(2, 0), held(2, 0), held(2, 0), held(2, 0)],
      thrownAway: 1,
    },
    {
      title: 'that are gone after one was sent are thrown away',
      looks: [held(3, 0), held(2, 1), held(1, 1), held(1, 1)],
      thrownAway: 1,
    },
    {
      title: 'of which one is missing in a single look are all there',
      looks: [held(3, 0), held(3, 0), held(2, 0), held(3, 0), held(3, 0)],
      thrownAway: 0,
    },
    {
      title: 'of which there is one too many in a single look are all there',
      looks: [held(2, 1), held(2, 1), held(3, 1), held(2, 1), held(2, 1)],
      thrownAway: 0,
    },
    {
      title: 'that are missing in the first looks, and never were seen twice, are not known',
      looks: [held(3, 0), held(2, 0), held(2, 0)],
      thrownAway: 0,
    },
    {
      title: 'that were sent are not thrown away',
      looks: [held(3, 0), held(3, 0), held(1, 2), held(0, 3), held(0, 3)],
      thrownAway: 0,
    },
    {
      title: 'that came and were sent between two looks are not thrown away',
      looks: [held(1, 0), held(1, 0), held(0, 5), held(0, 5)],
      thrownAway: 0,
    },
    {
      title: 'that are gone while a new one comes are thrown away, as many as more were gone than came',
      looks: [held(3, 0), held(3, 0), held(1, 0), held(2, 0), held(2, 0)],
      thrownAway: 1,
    },
    {
      title: 'that come after others were thrown away hide nothing',
      looks: [held(3, 0), held(3, 0), held(1, 0), held(1, 0), held(5, 0), held(5, 0)],
      thrownAway: 2,
    },
  ])('$title', ({ looks, thrownAway }) => {
    const { accounts } = ledgerOf(looks.map((counters) => ({ reading: readingOf(counters) })));
    expect(accounts.get('0 out')?.thrownAway).toEqual(lost(thrownAway));
  });

  test('that a full buffer drops as new ones come are counted where Fluentd tells of them', () => {
    const looks = [0, 2, 2].map((dropped) => ({ reading: readingOf({ ...held(3, 0), dropped }) }));
    expect(ledgerOf(looks).accounts.get('0 out')?.thrownAway.chunks).toBe(2);
  });

  test.each([
    ['is looked at', [{ reading: readingOf(held(0, 0)), isReplaced: true }]],
    ['is not looked at at once', [{ isReplaced: true }, { reading: readingOf(held(0, 0)) }]],
  ])('that were thrown away stay told where another worker takes over and %s', (_, later) => {
    const looks = [held(3, 0), held(3, 0), held(1, 0), held(1, 0)];
    const { accounts } = ledgerOf([...looks.map((counters) => ({ reading: readingOf(counters) })), ...later]);
    expect(accounts.get('0 out')?.thrownAway).toEqual(lost(2));
  });

  test('that are missing in a single look still count as held', () => {
    const looks = [held(3, 0), held(3, 0), held(2, 0)].map((counters) => ({ reading: readingOf(counters) }));
    expect(ledgerOf(looks).accounts.get('0 out')?.held).toEqual(lost(3));
  });
});

describe('an output with a limit of 2 retries', () => {
  const limit = { times: 2, timeout: 60_000, threads: 1 };
  const ledgerOf = (looks: readonly Counters[]) =>
    looks.reduce((ledger, counters, index) => {
      const outputs = [outputReading({ retryLimit: limit, told: told(counters) })];
      return keepLedger(
        ledger,
        { ...NO_BUFFERS, none: false, outputs },
        { ...noOtherFluentd, movedAt: undefined, at: 1_000 * index },
      );
    }, NO_LEDGER);

  test.each<{ title: string; looks: readonly Counters[]; mayBe: boolean }>([
    {
      title: 'may have thrown chunks away after 3 failures between two looks',
      looks: [{}, { failures: 3, sent: 1 }],
      mayBe: true,
    },
    {
      title: 'may have after 3 failures in three looks',
      looks: [{}, { ...held(1, 0), failures: 1 }, { ...held(1, 0), failures: 2 }, { sent: 1, failures: 3 }],
      mayBe: true,
    },
    {
      title: 'has thrown nothing away after 2 failures and a success',
      looks: [{}, { ...held(1, 0), failures: 2 }, { sent: 1, failures: 2 }, { sent: 2, failures: 4 }],
      mayBe: false,
    },
    {
      title: 'may have where the success between its failures is not certain',
      looks: [
        {},
        { ...held(2, 0), failures: 2 },
        { ...held(1, 1), failures: 2 },
        { ...held(1, 1), failures: 3 },
      ],
      mayBe: true,
    },
    {
      title: 'has thrown nothing away where a later chunk was sent between its failures',
      looks: [
        {},
        { ...held(2, 0), failures: 2 },
        { ...held(1, 2), failures: 2 },
        { ...held(1, 2), failures: 3 },
      ],
      mayBe: false,
    },
  ])('$title', ({ looks, mayBe }) => {
    const { accounts, unseen } = ledgerOf(looks);
    expect([...accounts.values()].map(({ mayHaveGivenUp }) => mayHaveGivenUp)).toEqual([mayBe]);
    expect(unseen).toHaveLength(mayBe ? 1 : 0);
  });

  test('may have thrown chunks away when its time is over', () => {
    const failed = { ...held(1, 0), failures: 1 };
    expect([
      ...ledgerOf([{}, ...Array<Counters>(62).fill(failed), { ...failed, failures: 2 }]).accounts.values(),
    ]).toMatchObject([{ mayHaveGivenUp: true }]);
  });

  test('may have when a worker that had read lines since the last look is replaced', () => {
    const reading = {
      ...NO_BUFFERS,
      none: false,
      outputs: [outputReading({ retryLimit: limit, told: told() })],
    };
    const now = { ...noOtherFluentd, movedAt: undefined, at: 0 };
    const first = keepLedger(NO_LEDGER, reading, now);
    const after = (movedAt: number) =>
      keepLedger(first, reading, { ...now, at: 2_000, movedAt, isReplaced: true });
    expect([-1, 1].map((movedAt) => after(movedAt).unseen.length)).toEqual([0, 1]);
  });

  test.each([
    ['held nothing', 0, 0, 0],
    ['held a chunk', 1, 0, 1],
    ['had failed to send', 0, 1, 1],
  ])(
    'may have, or not, when a worker that %s is replaced, where nothing was read since',
    (_, chunks, failures, unseen) => {
      const last = { ...held(chunks, 0), emitted: 9, failures };
      expect(ledgerOf([{ emitted: 9 }, last, { emitted: 1 }]).unseen).toHaveLength(unseen);
    },
  );

  test('may have when a worker read lines after it last told, though it was looked at since in vain', () => {
    const looks = (emitted: number | undefined) => {
      const outputs = [
        outputReading({ retryLimit: limit, told: emitted === undefined ? undefined : told({ emitted }) }),
      ];
      return { ...NO_BUFFERS, none: false, outputs };
    };
    const ledgerAfter = (movedAt: number) =>
      [9, undefined, 1].reduce<Ledger>(
        (ledger, emitted, index) =>
          keepLedger(ledger, looks(emitted), { ...noOtherFluentd, movedAt, at: 1_000 * index }),
        NO_LEDGER,
      );
    const given = (movedAt: number) =>
      [...ledgerAfter(movedAt).accounts.values()].map((one) => one.mayHaveGivenUp);
    expect([0, 500].map(given)).toEqual([[false], [true]]);
  });

  test('that fails in several threads at once has retried once', () => {
    const threads = { ...limit, threads: 8 };
    const ledgerAfter = (failures: number) =>
      [told(), told({ failures })].reduce((ledger, counters, index) => {
        const outputs = [outputReading({ retryLimit: threads, told: counters })];
        return keepLedger(
          ledger,
          { ...NO_BUFFERS, none: false, outputs },
          { ...noOtherFluentd, movedAt: undefined, at: index },
        );
      }, NO_LEDGER);
    expect([8, 24].map((failures) => ledgerAfter(failures).unseen.length)).toEqual([0, 1]);
  });

  test('that has failed too often stays told when another Fluentd takes its place', () => {
    const [account] = ledgerOf([
      { emitted: 9 },
      { emitted: 9, failures: 3 },
      { emitted: 1 },
    ]).accounts.values();
    expect(account).toMatchObject({ mayHaveGivenUp: true, failures: 0 });
  });
});

test('no bytes are thrown away with no chunk', () => {
  const looks = [3, 2, 1].map((chunks) => ({
    reading: readingOf({ chunks, bytes: 10 * chunks, sent: 3 - chunks }),
  }));
  expect(ledgerOf(looks).accounts.get('0 out')?.thrownAway).toEqual({ chunks: 0, bytes: 0 });
});

describe('records that did not get into the buffer', () => {
  test.each([
    ['are refused where the buffer has room before and after', 100, 100, 2],
    ['are refused where just enough is free', 20, 20, 2],
    ['are not refused where the buffer is full: in_tail tries again', 100, 19, 0],
    ['are not refused where the buffer was full until now', 19, 100, 0],
  ])('%s', (_, before, after, refused) => {
    const looks = [
      { reading: readingOf({ space: before, emitErrors: 1 }) },
      { reading: readingOf({ space: after, emitErrors: 3 }) },
    ];
    expect(ledgerOf(looks).accounts.get('0 out')).toMatchObject({ refused, emitErrors: 3 });
  });

  test.each([
    ['before the first look are not counted', false, 0],
    ['before the first look are counted where posidle started Fluentd', true, 4],
  ])('%s', (_, isChild, refused) => {
    const { accounts } = ledgerOf([{ reading: readingOf({ emitErrors: 4 }), isChild }]);
    expect(accounts.get('0 out')).toMatchObject({ refused });
  });

  test.each([
    ['posidle started Fluentd', { isChild: true }],
    ['posidle saw Fluentd begin', { beganSeen: true }],
  ])(
    'before the first answer may have been taken later; chunks that were dropped count where %s',
    (_, now) => {
      const { accounts } = ledgerOf([
        { reading: NO_BUFFERS, ...now },
        { reading: readingOf({ emitErrors: 4, dropped: 2 }), ...now },
      ]);
      expect(accounts.get('0 out')).toMatchObject({ refused: 0, thrownAway: { chunks: 2 } });
    },
  );
});

test.each<[string, Counters, { refused: number; isUnseen: boolean }]>([
  ['are lost where nothing has left the buffer yet: it was never full', {}, { refused: 4, isUnseen: false }],
  ['may be lost where something has left it', { sent: 1, emitErrors: 1 }, { refused: 0, isUnseen: true }],
  [
    'may be lost where a chunk was sent, and one dropped',
    { sent: 1, dropped: 1 },
    { refused: 0, isUnseen: true },
  ],
  ['are not there where none is counted', { sent: 1, emitErrors: 0 }, { refused: 0, isUnseen: false }],
  ['are taken later where it is full still', { space: 5 }, { refused: 0, isUnseen: false }],
])('records that did not get into the buffer before its first answer %s', (_, counters, told) => {
  const looks = [
    { reading: NO_BUFFERS },
    { reading: readingOf({ emitErrors: 4, ...counters }) },
    { reading: NO_BUFFERS },
  ];
  const { accounts, unseen } = ledgerOf(looks.map((look) => ({ ...look, isChild: true })));
  const isUnseen = unseen.some((name) => name.includes('before it first told'));
  expect({ refused: accounts.get('0 out')?.refused, isUnseen }).toEqual(told);
});

describe('another Fluentd', () => {
  const inMemory = readingOf({ chunks: 1, bytes: 10, emitted: 50 });
  const empty = readingOf({ emitted: 50 });
  const onDisk = readingOf({ chunks: 1, emitted: 50 }, { inMemory: false });
  const began = readingOf({ emitted: 3 });
  const now = (at: number, reading: BuffersReading, more: Look = {}) => ({ at, reading, ...more });

  test.each<{ title: string; looks: readonly Look[]; lostWithProcess: boolean }>([
    {
      title: 'is told by a counter that went back, and lost what was held in memory',
      looks: [now(0, inMemory), now(100, began)],
      lostWithProcess: true,
    },
    {
      title: 'lost what was read since the last look',
      looks: [now(0, empty), now(100, began, { movedAt: 50 })],
      lostWithProcess: true,
    },
    {
      title: 'lost nothing where the memory was empty, and nothing was read since',
      looks: [now(50, empty), now(100, began, { movedAt: 50 })],
      lostWithProcess: false,
    },
    {
      title: 'lost nothing where the buffer is on disk',
      looks: [now(0, onDisk), now(100, readingOf({ emitted: 3 }, { inMemory: false }), { movedAt: 50 })],
      lostWithProcess: false,
    },
    {
      title: 'has lost what one of two outputs held',
      looks: [
        now(0, { ...inMemory, outputs: [...inMemory.outputs, outputReading({ key: '0 other' })] }),
        now(100, began),
      ],
      lostWithProcess: true,
    },
    {
      title: 'is told by the pids of the agents',
      looks: [now(0, withAgents(inMemory, '7 1')), now(100, withAgents(inMemory, '9 1'))],
      lostWithProcess: true,
    },
    {
      title: 'is not told by the same pids',
      looks: [now(0, withAgents(inMemory, '7 1')), now(100, withAgents(inMemory, '7 1'))],
      lostWithProcess: false,
    },
    {
      title: 'is not told where one of two agents is silent for a look',
      looks: [now(0, withAgents(inMemory, '7 1', '8 1')), now(100, withAgents(inMemory, undefined, '8 1'))],
      lostWithProcess: false,
    },
    {
      title: 'is told by new pids after a look in which no agent answered',
      looks: [
        now(0, withAgents(inMemory, '7 1')),
        now(50, withAgents(inMemory)),
        now(100, withAgents(inMemory, '9 1')),
      ],
      lostWithProcess: true,
    },
    {
      title: 'is told by a worker that was replaced',
      looks: [now(0, inMemory), now(100, inMemory, { isReplaced: true })],
      lostWithProcess: true,
    },
    {
      title: 'is also told in a look that does not take in the buffers',
      looks: [now(0, inMemory), { at: 100, isReplaced: true }],
      lostWithProcess: true,
    },
    {
      title: 'lost nothing that anybody knows of where the buffers were never looked at',
      looks: [{ at: 0 }, now(100, inMemory, { isReplaced: true, movedAt: 50 })],
      lostWithProcess: false,
    },
    {
      title: 'may have lost what was read ever where its memory could not be seen',
      looks: [
        now(0, { ...NO_BUFFERS, none: false, hidden: ['all buffers'] }, { movedAt: -50 }),
        now(100, began, { isReplaced: true, movedAt: -50 }),
      ],
      lostWithProcess: true,
    },
    {
      title: 'stays known in the looks that follow',
      looks: [now(0, inMemory), now(100, began), now(200, readingOf({ emitted: 4 }))],
      lostWithProcess: true,
    },
  ])('$title', ({ looks, lostWithProcess }) => {
    expect(ledgerOf(looks).lostWithProcess).toBe(lostWithProcess);
  });

  test('is none where a worker answers later than the others, or not for once', () => {
    const answers = [['1 9'], ['1 9', '2 9'], ['1 9'], ['1 9', '2 9']];
    const looks = answers.map((agents) => ({
      reading: withAgents(readingOf({ emitted: 1 }), ...agents),
      movedAt: 5,
    }));
    expect(ledgerOf(looks).lostWithProcess).toBe(false);
  });

  test.each([
    ['by its process', { isReplaced: true, running: new Set([8]) }, '7 1'],
    ['by its agent', {}, '9 1'],
  ])('begins new accounts for the worker that was replaced, %s, and for no other', (_, seen, agent) => {
    const both = (counters: Counters, pid: string) => {
      const outputs = [0, 1].map((worker) =>
        outputReading({ key: `${worker} out`, worker, inMemory: false, told: told(counters) }),
      );
      return withAgents({ ...NO_BUFFERS, none: false, outputs }, pid, '8 1');
    };
    const errors = { emitted: 10, emitErrors: 5, dropped: 2 };
    const looks = [now(0, both({}, '7 1')), now(1, both(errors, '7 1')), now(2, both(errors, agent), seen)];
    const { accounts } = ledgerOf(looks);
    expect(accounts.get('0 out')).toMatchObject({ refused: 10, thrownAway: { chunks: 4 } });
    expect(accounts.get('1 out')).toMatchObject({ refused: 5, thrownAway: { chunks: 2 } });
  });

  test('begins new accounts: its counters begin at 0', () => {
    const before = readingOf({ ...held(3, 9), emitted: 50 });
    const after = readingOf({ ...held(0, 0), emitted: 3, emitErrors: 2 });
    const looks = [before, before, after, after].map((reading) => ({ reading }));
    expect(ledgerOf(looks).accounts.get('0 out')).toMatchObject({ thrownAway: NOTHING_HELD, refused: 2 });
  });
});

describe('the account of an output', () => {
  test('is kept while its agent is silent', () => {
    const silent = {
      ...NO_BUFFERS,
      none: false,
      outputs: [outputReading({ told: undefined })],
    };
    const looks = [readingOf(held(2, 1)), silent].map((reading) => ({ reading }));
    expect(ledgerOf(looks).accounts.get('0 out')).toMatchObject({ last: 3, held: lost(2) });
  });

  test('is kept by a look that does not ask the agents', () => {
    const before = ledgerOf([{ at: 5, reading: readingOf(held(2, 1)) }]);
    const after = keepLedger(
      before,
      { ...readingOf({}), asked: false },
      { at: 9, movedAt: 7, ...noOtherFluentd },
    );
    expect(after).toMatchObject({ accounts: before.accounts, at: 5 });
  });

  test('counts each output for itself', () => {
    const other = outputReading({
      key: '0 other',
      name: 'other',
      told: told({ id: 'other', ...held(1, 0) }),
    });
    const looks = [held(2, 0), held(2, 0), held(1, 0), held(1, 0)].map((counters) => {
      const reading = readingOf(counters);
      return { reading: { ...reading, outputs: [...reading.outputs, other] } };
    });
    const { accounts } = ledgerOf(looks);
    expect(accounts.get('0 out')?.thrownAway).toEqual(lost(1));
    expect(accounts.get('0 other')?.thrownAway).toEqual(NOTHING_HELD);
  });
});

describe('the memory', () => {
  test.each<{ title: string; reading: BuffersReading; memory: Ledger['memory'] }>([
    { title: 'is none without a buffer', reading: NO_BUFFERS, memory: 'none' },
    { title: 'is none where all is on disk', reading: readingOf({}, { inMemory: false }), memory: 'none' },
    { title: 'is seen where a monitor_agent tells of it', reading: readingOf({}), memory: 'seen' },
    {
      title: 'is unseen where no monitor_agent tells of it',
      reading: { ...NO_BUFFERS, outputs: [outputReading({ told: undefined })] },
      memory: 'unseen',
    },
    {
      title: 'is unseen where buffers may be hidden',
      reading: { ...readingOf({}), hidden: ['all buffers'] },
      memory: 'unseen',
    },
  ])('$title', ({ reading, memory }) => {
    expect(ledgerOf([{ reading }]).memory).toBe(memory);
  });
});

describe('what Fluentd has put aside', () => {
  const chunk = (path: string): Chunk => ({ path, size: 10, age: 0 });
  const withBackups = (...paths: readonly string[]) => ({ ...NO_BUFFERS, backups: paths.map(chunk) });

  test.each([
    ['before the first look does not count', false, ['/b/old', '/b/new'], ['/b/new']],
    ['before the first look counts where posidle started Fluentd', true, ['/b/old'], ['/b/old']],
    ['and was removed counts no more', false, [], []],
  ])('%s', (_, isChild, second, givenUp) => {
    const looks = [withBackups('/b/old'), withBackups(...second)].map((reading) => ({ reading, isChild }));
    expect(ledgerOf(looks).givenUp.map(({ path }) => path)).toEqual(givenUp);
  });

  test('and could not be listed in one look is remembered as it was', () => {
    const unlisted = { ...NO_BUFFERS, backupsUnknown: 'too many' };
    const looks = [withBackups('/b/old'), withBackups('/b/old', '/b/new'), unlisted];
    const ledger = ledgerOf(looks.map((reading) => ({ reading })));
    expect(ledger).toMatchObject({ givenUp: [chunk('/b/new')], backupsUnknown: 'too many' });
    const again = { reading: withBackups('/b/old'), isChild: false };
    expect(ledgerOf([...looks.map((reading) => ({ reading })), again])).toMatchObject({ givenUp: [] });
    expect(ledgerOf([...looks.map((reading) => ({ reading })), again]).backupsUnknown).toBeUndefined();
  });

  test('counts where no earlier look could list it', () => {
    const unlisted = { ...NO_BUFFERS, backupsUnknown: 'too many' };
    expect(ledgerOf([{ reading: unlisted }, { reading: withBackups('/b/a') }]).givenUp).toEqual([
      chunk('/b/a'),
    ]);
  });

  test('counts also by a look that does not ask the agents, the last one', () => {
    const last = { ...withBackups('/b/new'), asked: false };
    expect(ledgerOf([{ reading: NO_BUFFERS }, { reading: last }]).givenUp).toEqual([chunk('/b/new')]);
  });
});

test.each([
  ['since the first look', [{}, {}, {}], 0],
  ['not where one refuses records', [{}, { space: 5 }], undefined],
  ['since it refuses none any more', [{ space: 5 }, {}, {}], 100],
])('every output takes what in_tail reads %s', (_, looks, since) => {
  expect(ledgerOf(looks.map((one) => ({ reading: readingOf(one) }))).roomSince).toBe(since);
});

test('whether another Fluentd takes what in_tail reads is not known by the one before', () => {
  const looks = ['1 0', '1 0', '2 0'].map((agent) => ({ reading: withAgents(readingOf({}), agent) }));
  expect(ledgerOf(looks).roomSince).toBeUndefined();
});

test.each([
  ['the whole time, to its end', { at: 9_000, roomSince: 0 }, true],
  ['for two seconds', { at: 9_000, roomSince: 7_000 }, true],
  ['for less', { at: 9_000, roomSince: 7_001 }, false],
  ['as far as it was looked at, for two seconds', { at: 5_000, roomSince: 0 }, true],
  ['as far as it was looked at, for less', { at: 4_999, roomSince: 0 }, false],
  ['but nobody looked in time', { at: 9_001, roomSince: 0 }, false],
  ['but nobody knows', { at: 9_000, roomSince: undefined }, false],
  ['but nobody looked', { at: undefined, roomSince: 0 }, false],
])('from 3 s to 9 s every output took what in_tail read: %s', (_, known, hasTaken) => {
  expect(hasTakenAll({ ...NO_LEDGER, ...known }, 3_000, 9_000)).toBe(hasTaken);
});

describe('a worker that has just taken the place of another one', () => {
  const replaced = { isReplaced: true, running: new Set([8]) };

  test('refuses nothing that anybody knows of, and begins to count at 0', () => {
    const full = { reading: readingOf({ space: 5, emitted: 9 }) };
    const begun = ledgerOf([full, replaced]);
    expect([isRefusing(ledgerOf([full])), isRefusing(begun)]).toEqual([true, false]);
    const [account] = ledgerOf([full, replaced, { reading: readingOf({ emitErrors: 2 }) }]).accounts.values();
    expect(account).toMatchObject({ refused: 2 });
    expect(ledgerOf([full, replaced, { reading: readingOf({}) }]).roomSince).toBe(200);
  });

  test('is not another one again when its agent answers only later', () => {
    const answered = (agent: string) => ({ reading: withAgents(readingOf({ emitted: 1 }), agent) });
    const read = { ...answered('8 1'), movedAt: 150 };
    expect(ledgerOf([answered('7 1'), replaced, read]).lostWithProcess).toBe(false);
  });

  test('is another one by its pid in the decimal system', () => {
    const reading = withAgents(readingOf(held(1, 0)), '12 1');
    const [account] = ledgerOf([
      { reading },
      { reading },
      { isReplaced: true, running: new Set([12]) },
    ]).accounts.values();
    expect(account).toMatchObject({ most: 1 });
  });

  test('has not thrown away what was read before the last look', () => {
    const outputs = [outputReading({ retryLimit: { times: 2, timeout: 60_000, threads: 1 }, told: told() })];
    const reading = { ...NO_BUFFERS, none: false, outputs };
    const unseenAt = (movedAt: number) =>
      ledgerOf([
        { reading, at: 50 },
        { reading, ...replaced, movedAt },
      ]).unseen;
    expect([50, 51].map((movedAt) => unseenAt(movedAt).length)).toEqual([0, 1]);
    const dropping = { ...reading, outputs: [outputReading({ mayDrop: true, told: told({ dropped: 0 }) })] };
    const last = { reading: dropping, at: 50 };
    expect(ledgerOf([last, { reading: dropping, ...replaced, movedAt: 51 }]).unseen).toHaveLength(1);
    const failed = [outputReading({ ...outputs[0], told: told({ failures: 3, ...held(1, 0) }) })];
    expect(
      ledgerOf([{ reading }, replaced, { reading: { ...reading, outputs: failed } }]).unseen,
    ).toHaveLength(1);
  });
});

test('of outputs that change their names at each look no more than ten thousand are remembered', () => {
  const named = (from: number, count: number) => {
    const outputs = Array.from({ length: count }, (_, index) => outputReading({ key: `0 ${from + index}` }));
    return { reading: { ...NO_BUFFERS, none: false, outputs } };
  };
  const sizeOf = (...looks: readonly Look[]) => ledgerOf(looks).accounts.size;
  expect(sizeOf(named(0, 9_999), named(1, 9_999))).toBe(10_000);
  expect(sizeOf(named(0, 10_000), named(1, 10_000))).toBe(10_000);
});

test('a full disk is remembered, once, also when it has room again', () => {
  const full = (...names: readonly string[]) => ({ reading: { ...NO_BUFFERS, full: names } });
  expect(ledgerOf([full('a'), full('a', 'b'), full()]).full).toEqual(['a', 'b']);
});

const noOtherFluentd = { isReplaced: false, running: new Set([7, 8]), isChild: false, beganSeen: false };

/** The ledger after these looks, one each 100 ms where they do not say. */
function ledgerOf(looks: readonly Look[]): Ledger {
  return looks.reduce(
    (ledger, { reading, ...now }, index) =>
      keepLedger(ledger, reading, { at: 100 * index, movedAt: undefined, ...noOtherFluentd, ...now }),
    NO_LEDGER,
  );
}

function readingOf(counters: Counters, { inMemory = true } = {}): BuffersReading {
  return { ...NO_BUFFERS, none: false, outputs: [outputReading({ inMemory, told: told(counters) })] };
}

/** `agents`: by worker; undefined: it is silent. */
function withAgents(reading: BuffersReading, ...agents: readonly (string | undefined)[]): BuffersReading {
  const told = agents.flatMap((agent, worker) => (agent === undefined ? [] : [[worker, agent] as const]));
  return { ...reading, agents: new Map(told) };
}

import { describe, expect, test } from 'vitest';
import type { MonitoredOutput } from '../../../src/core/fluentd/monitor-agent.ts';
import { type Account, accountOf, begun } from '../../../src/core/observe/output-account.ts';
import { outputReading, told } from '../../support/builders.ts';

const RETRY = { times: 2, timeout: 5_000, threads: 1 };

/** The account after these looks, one a second. */
function accountAfter(
  looks: readonly Partial<MonitoredOutput>[],
  { isLimited = true, mayDrop = false, isNew = false } = {},
): Account {
  const retryLimit = isLimited ? RETRY : undefined;
  const outputs = looks.map((counters) => outputReading({ retryLimit, mayDrop, told: told(counters) }));
  const [first = outputReading()] = outputs;
  const start = { isNew: () => isNew, space: 100, looks: { before: 0, now: 0 } };
  return outputs.reduce<Account>(
    (account, output, index) => {
      const at = { before: Math.max(0, 1_000 * (index - 1)), now: 1_000 * index };
      return accountOf(output, output.told ?? told(), account, at);
    },
    { ...begun(first, start), at: 0, isCounted: true, isLimited, takesOwnEvents: false },
  );
}

const mayHaveGivenUp = (...given: Parameters<typeof accountAfter>) => accountAfter(...given).mayHaveGivenUp;

describe('the failures of an output', () => {
  const held = { chunks: 1, bytes: 10 };

  test('of a new worker count from 0', () => {
    expect(mayHaveGivenUp([{ ...held, failures: 3 }], { isNew: true })).toBe(true);
    expect(mayHaveGivenUp([{ ...held, failures: 2 }], { isNew: true })).toBe(false);
    expect(mayHaveGivenUp([{ ...held, failures: 3 }])).toBe(false);
  });

  test('go on where as many chunks were sent as threads may have had on their way', () => {
    const failing = { ...held, failures: 2 };
    const sent = (more: number) => [
      {},
      failing,
      { ...failing, sent: more },
      { ...held, failures: 3, sent: more },
    ];
    expect([1, 2].map((more) => mayHaveGivenUp(sent(more)))).toEqual([true, false]);
  });

  test('are over when the buffer is empty', () => {
    const looks = (between: object) => [
      {},
      { ...held, failures: 2 },
      { ...between, failures: 2 },
      { ...held, failures: 3 },
    ];
    expect(mayHaveGivenUp(looks({}))).toBe(false);
    expect(mayHaveGivenUp(looks({ chunks: 1, bytes: 1 }))).toBe(true);
  });

  test.each([
    [5, true],
    [4, false],
  ])('may have reached the limit of time at the attempt that fails after it: %i s', (seconds, may) => {
    const since = [{}, { ...held, failures: 1 }];
    const waiting = Array.from({ length: seconds - 2 }, () => ({ ...held, failures: 1 }));
    expect(mayHaveGivenUp([...since, ...waiting, { ...held, failures: 2 }])).toBe(may);
    expect(mayHaveGivenUp([...since, ...waiting, { ...held, failures: 1 }])).toBe(false);
  });

  test('reach no limit where there is none', () => {
    expect(mayHaveGivenUp([{}, { ...held, failures: 9 }], { isLimited: false })).toBe(false);
  });
});

describe('what an output throws away', () => {
  test.each([
    ['is counted where it never drops', false, undefined, true],
    ['is counted where Fluentd tells of it', true, 0, true],
    ['is not counted where Fluentd does not tell of it', true, undefined, false],
  ])('%s', (_, mayDrop, dropped, isCounted) => {
    expect(accountAfter([{ dropped }], { mayDrop }).isCounted).toBe(isCounted);
  });

  test('takes no bytes where the buffer has grown meanwhile', () => {
    const many = { chunks: 3, bytes: 30 };
    const few = { chunks: 1, bytes: 90 };
    expect(accountAfter([many, many, few, few]).thrownAway).toEqual({ chunks: 2, bytes: 0 });
  });
});

describe('an output refuses records', () => {
  test.each([
    [20, false],
    [19, true],
  ])('where less than a fifth of its buffer is free: %i %%', (space, isRefusing) => {
    expect(accountAfter([{ space }]).isRefusing).toBe(isRefusing);
  });

  test('where it has since the last look', () => {
    const looks = [{}, { emitErrors: 1 }];
    expect([looks, [...looks, { emitErrors: 1 }]].map((of) => accountAfter(of).isRefusing)).toEqual([
      true,
      false,
    ]);
  });
});

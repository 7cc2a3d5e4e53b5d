import { describe, expect, test } from 'vitest';
import { drain, unfinishedLines } from '../../../src/core/drain/moves.ts';
import type { Policy } from '../../../src/core/drain/policy.ts';
import type { Draining, State } from '../../../src/core/drain/state.ts';
import { stop } from '../../../src/core/drain/stop-fluentd.ts';
import type { FluentdReading } from '../../../src/core/fluentd/processes.ts';
import { entry, fileOf, LOG, ORPHANED, policy, running, seen, snapshot } from '../../support/builders.ts';

const AT = 9_000;
const trigger = { by: 'http', at: AT } as const;
const watched = (fluentd: FluentdReading = running()) => seen([snapshot(AT, [[entry()]], { fluentd })]);
const nothingYet = { completed: false, flush: undefined, emptyAt: undefined, closingAt: undefined };

describe('a drain', () => {
  test('begins with nothing done', () => {
    const { state, actions } = drain(trigger, watched(), policy());
    expect(state).toEqual({ name: 'draining', since: AT, trigger, ...nothingYet });
    expect(actions).toEqual([]);
  });

  const isolated: Draining = { name: 'draining', since: AT, trigger, ...nothingYet };

  test.each<[string, FluentdReading, Partial<Policy>, Partial<State>, readonly object[]]>([
    [
      'tells the supervisor, once',
      running(),
      {},
      { name: 'stopping', since: AT, toldAt: AT, told: [4242], termedOrphans: false },
      [{ do: 'signal', target: 'supervisor', signal: 'SIGINT' }],
    ],
    [
      'tells workers without a supervisor by SIGTERM',
      ORPHANED,
      {},
      { name: 'stopping', told: [], termedOrphans: true },
      [{ do: 'signal', target: 'workers', signal: 'SIGTERM' }],
    ],
    ['signals nothing in a dry run', running(), { dryRun: true }, { name: 'stopped' }, []],
    ['leaves the stop to the kubelet', running(), { leavesStop: true }, { name: 'stopped' }, []],
    ['signals nothing that is not proven', running({ isProven: false }), {}, { name: 'stopped' }, []],
  ])('that ends %s', (_, fluentd, rules, state, actions) => {
    const next = stop(isolated, undefined, watched(fluentd), policy(rules));
    expect(next.state).toMatchObject(state);
    expect(next.actions).toEqual(actions);
  });

  test('that ends says whether everything was flushed too', () => {
    const flushed = { ...isolated, flush: { at: 0, buffers: undefined } };
    expect(stop(isolated, undefined, watched(), policy()).moved).toBe('everything is read');
    expect(stop(flushed, undefined, watched(), policy()).moved).toBe('everything is read and flushed');
  });
});

test('unfinished are the files that end without a newline, and no other', () => {
  const begun = entry({ path: '/begun', inode: '8' });
  const files = [[entry()], [begun, { atPath: { inode: '8', size: 104 }, newlineLeft: false }]] as const;
  const behind = entry({ path: LOG, inode: '9' });
  const looks = [snapshot(AT, [...files, [behind, fileOf(behind, 300)]])];
  expect(unfinishedLines(seen(looks))).toEqual([{ do: 'end-line', path: '/begun', size: 104 }]);
});

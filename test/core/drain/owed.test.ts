import { describe, expect, test } from 'vitest';
import { drainGate, owedNow } from '../../../src/core/drain/gates.ts';
import type { Policy } from '../../../src/core/drain/policy.ts';
import type { Draining } from '../../../src/core/drain/state.ts';
import { DEFAULT_TAIL } from '../../../src/core/fluent-conf/facts.ts';
import type { Snapshot } from '../../../src/core/look/snapshot.ts';
import type { Owed } from '../../../src/core/progress/progress.ts';
import {
  draining,
  entry,
  fileOf,
  onDisk,
  POS,
  policy,
  seen,
  snapshot,
  type Watched,
} from '../../support/builders.ts';
import { alive } from '../../support/witnesses.ts';

const NOW = 60_000;
const FIRST = '0'.repeat(32);
const behind: Watched = [entry({ position: 80 }), fileOf(entry())];
const keeps = { testimony: { at: NOW, witnesses: [alive({ held: [{ class: 'X', n: 1 }] })] } };
const tail = (changes: Partial<Policy['tail']>) => ({ tail: { ...DEFAULT_TAIL, ...changes } });

interface Change {
  readonly files?: readonly Watched[];
  readonly look?: Partial<Snapshot>;
  readonly rules?: Partial<Policy>;
}

/** Everything has been read for a minute. */
function observedIn({ files = [[entry()]], look = {}, rules = {} }: Change) {
  return seen([snapshot(0, [[entry()]]), snapshot(NOW, files, look)], policy(rules));
}

function owedIn(change: Change, owed?: Owed): Owed | undefined {
  return owedNow(draining({ owed }), observedIn(change), policy(change.rules));
}

describe('the chunks that have to go', () => {
  const two = { look: { buffers: onDisk(1, 1) } };

  test('are those that there are when everything is read, and no later one', () => {
    const owed = owedIn({ look: { buffers: onDisk(1) } });
    expect(owed?.ids).toEqual(new Set([FIRST]));
    expect(owedIn(two, owed)).toBe(owed);
    const gateOf = (state: Partial<Draining>) => drainGate(draining(state), observedIn(two), policy());
    expect(gateOf({ flushedAt: NOW, owed })?.why).toMatch(/ 1 chunk /);
    expect(gateOf({ owed: { mark: '0', ids: new Set() } })).toBeUndefined();
  });

  test('are told anew where lines came in since', () => {
    expect(owedIn(two, { mark: 'other', ids: new Set() })?.ids?.size).toBe(2);
  });

  test('stay what they were where a look did not take in everything', () => {
    const owed = { mark: 'other', ids: new Set(['a']) };
    expect(owedIn({ look: { depth: 'rest', buffers: undefined } }, owed)).toBe(owed);
  });

  test('stay what they were where Fluentd keeps only later records', () => {
    const { mark = '' } = owedIn({ look: { testimony: { at: NOW, witnesses: [alive()] } } }) ?? {};
    const owed = { mark, ids: new Set(['a']) };
    expect(owedIn({ look: keeps }, owed)).toBe(owed);
  });

  test.each<[string, Change]>([
    ['lines are unread', { files: [behind] }],
    [
      'a file is not found',
      {
        look: {
          followed: [
            {
              posFile: POS,
              refreshInterval: 0,
              byInode: false,
              files: [{ path: '/new', inode: '9', size: 5 }],
            },
          ],
        },
      },
    ],
    ['a pos file is unknown', { look: { posFiles: [{ path: POS, kind: 'empty' }] } }],
    ['Fluentd keeps records outside its buffers', { look: keeps }],
    ['a record of several lines may wait for its next line', { rules: tail({ multilineFlush: 60_000 }) }],
    ['in_tail may read the rest of a renamed file', { files: [[entry(), {}]] }],
  ])('are not known while %s: later ones may hold these lines', (_, change) => {
    expect(owedIn(change)).toBeUndefined();
    expect(owedIn(change, { mark: '0', ids: new Set() })).toBeUndefined();
  });
});

import { describe, expect, test } from 'vitest';
import { drainGate, pendingNow } from '../../../src/core/drain/gates.ts';
import type { Policy } from '../../../src/core/drain/policy.ts';
import type { Draining } from '../../../src/core/drain/state.ts';
import type { Snapshot } from '../../../src/core/look/snapshot.ts';
import type { PendingChunks } from '../../../src/core/progress/progress.ts';
import { draining, entry, onDisk, policy, seen, snapshot, type Watched } from '../../support/builders.ts';
import { alive } from '../../support/witnesses.ts';
import { EMPTY, said, sized, tailRules, unfound } from '../worlds.ts';

const NOW = 60_000;
const FIRST = '0'.repeat(32);
const keeps = said(alive({ held: [{ class: 'X', n: 1 }] }));

interface Change {
  readonly files?: readonly Watched[];
  readonly look?: Partial<Snapshot>;
  readonly rules?: Partial<Policy>;
}

/** Everything has been read for a minute. */
function observedIn({ files = [[entry()]], look = {}, rules = {} }: Change) {
  return seen([snapshot(0, [[entry()]]), snapshot(NOW, files, look)], policy(rules));
}

function pendingChunks(change: Change, pending?: PendingChunks): PendingChunks | undefined {
  return pendingNow(draining({ pending }), observedIn(change));
}

describe('the chunks that have to go', () => {
  const two = { look: { buffers: onDisk(1, 1) } };

  test('are those that exist when everything is read, and no later ones', () => {
    const pending = pendingChunks({ look: { buffers: onDisk(1) } });
    expect(pending?.ids).toEqual(new Set([FIRST]));
    expect(pendingChunks(two, pending)).toBe(pending);
    const gateOf = (state: Partial<Draining>) => drainGate(draining(state), observedIn(two), policy());
    expect(gateOf({ flushedAt: NOW, pending })?.why).toMatch(/ 1 chunk /);
    expect(gateOf({ pending: { mark: '0', ids: new Set(), taken: 0 } })).toBeUndefined();
  });

  test('are listed again if lines have come in since', () => {
    expect(pendingChunks(two, { mark: 'other', ids: new Set(), taken: 0 })?.ids?.size).toBe(2);
  });

  test('stay the same if a look was not full, or if Fluentd keeps only later records', () => {
    const pending = { mark: 'other', ids: new Set(['a']), taken: 0 };
    expect(pendingChunks({ look: { depth: 'light', buffers: undefined } }, pending)).toBe(pending);
    const known = { ...pending, mark: pendingChunks({ look: said(alive()) })?.mark ?? '' };
    expect(pendingChunks({ look: keeps }, known)).toBe(known);
  });

  test.each<[string, Change]>([
    ['lines are unread', { files: [sized(120)] }],
    ['a file is not found', { look: unfound(5) }],
    ['a pos file is unknown', { look: EMPTY }],
    ['Fluentd keeps records outside its buffers', { look: keeps }],
    ['a multiline record may wait for its next line', { rules: tailRules({ multilineFlush: 60_000 }) }],
    ['in_tail may read the rest of a renamed file', { files: [[entry(), {}]] }],
  ])('are not known while %s: later ones may hold these lines', (_, change) => {
    expect(pendingChunks(change)).toBeUndefined();
    expect(pendingChunks(change, { mark: '0', ids: new Set(), taken: 0 })).toBeUndefined();
  });
});

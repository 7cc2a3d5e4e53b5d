import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Step } from '../../../src/core/drain/moves.ts';
import { type Policy, stopReserve } from '../../../src/core/drain/policy.ts';
import type { StateName } from '../../../src/core/drain/state.ts';
import type { Snapshot } from '../../../src/core/look/snapshot.ts';
import { entryKey, entryKeyIn } from '../../../src/core/pos-file/pos-file.ts';
import { RUNS } from '../../support/arbitraries.ts';
import { POS } from '../../support/builders.ts';
import { drive, type Taken } from '../../support/drive.ts';
import { worldRules, worlds } from '../../support/worlds.ts';

describe('in any world', () => {
  const runs = { seed: Date.now() % 2 ** 31, ...RUNS, numRuns: 1_000 };
  let driven: readonly { readonly rules: Policy; readonly taken: readonly Taken[] }[];
  const drives = () => {
    driven ??= fc
      .sample(fc.tuple(worlds, worldRules), runs)
      .map(([world, rules]) => ({ rules, taken: drive(world, rules) }));
    return driven;
  };
  const always = (title: string, check: (taken: readonly Taken[], rules: Policy) => void) =>
    test(title, () => {
      try {
        for (const { taken, rules } of drives()) check(taken, rules);
      } catch (error) {
        // The same worlds once more, for the smallest that shows it.
        fc.assert(
          fc.property(worlds, worldRules, (world, rules) => check(drive(world, rules), rules)),
          runs,
        );
        throw error;
      }
    });

  always(
    'a clean stop finds every file read, every pos file known and no chunk that may hold its lines',
    (taken) => {
      for (const stop of cleanStops(taken))
        expect([...unreadIn(stop.snapshot), ...chunksOf(stop, taken)]).toEqual([]);
    },
  );

  always('a clean stop has found everything read at every look of the settle time', (taken, { settle }) => {
    for (const stop of cleanStops(taken)) {
      if (stop.snapshot.requests.length > 1) continue; // A second signal waits for nothing.
      const held = taken.filter(({ seen }) => seen.at > stop.seen.at - settle && seen.at <= stop.seen.at);
      for (const { snapshot } of held) expect(unreadIn(snapshot)).toEqual([]);
    }
  });

  always('an unclean stop has a deadline behind it, or a second signal', (taken, rules) => {
    for (const { seen, step } of stops(taken)) {
      if (step.state.name !== 'stopping' || isClean(step)) continue;
      const signals = seen.requests.filter(({ by }) => by.startsWith('SIG'));
      const budgets = signals.slice(0, 1).map((first) => first.at + rules.grace - stopReserve(rules));
      const deadline = Math.min(step.state.trigger.at + rules.drainTimeout, ...budgets);
      expect(signals.length > 1 || seen.at >= deadline).toBe(true);
    }
  });

  always('a quiet trigger has a whole window behind it in which nothing moved', (taken, { quiet }) => {
    for (const { from, step, snapshot } of taken) {
      if (step.state.name !== 'draining' || from.name === 'draining') continue;
      if (step.state.trigger.by !== 'quiet') continue;
      const moved = lastMovement(taken, snapshot);
      expect(snapshot.at - moved).toBeGreaterThanOrEqual(Number(quiet));
      expect(bytesLeftIn(snapshot)).toEqual([]);
    }
  });

  always(
    'the stop signal, SIGTERM to workers and SIGKILL are sent at most once each to a Fluentd',
    (taken) => {
      const sent = taken.flatMap(({ seen, step }) => {
        const { pid } = seen.fluentd.kind === 'running' ? seen.fluentd.supervisor : { pid: '' };
        const signals = step.actions.filter((action) => action.do === 'signal');
        return signals.map(({ target, signal }) => `${signal} to ${target} ${pid}`);
      });
      expect(new Set(sent).size).toBe(sent.length);
      expect(sent.filter((signal) => signal.startsWith('SIGKILL')).length).toBeLessThanOrEqual(1);
    },
  );

  always('SIGKILL comes last, and only after the whole time to stop', (taken, rules) => {
    for (const { from, step, seen } of taken) {
      if (!step.actions.some((action) => action.do === 'signal' && action.signal === 'SIGKILL')) continue;
      expect(from.name).toBe('stopping');
      const least = seen.requests.length > 0 ? stopReserve(rules) : rules.stopTimeout;
      expect(seen.at - from.since).toBeGreaterThanOrEqual(Math.min(least, rules.stopTimeout));
    }
  });

  always('what is stopped stays stopped and orders nothing', (taken) => {
    for (const { from, step } of taken) {
      if (from.name === 'stopped') expect(step).toMatchObject({ state: from, actions: [] });
    }
  });

  always('the time to look again is still to come, or posidle could not look at every file', (taken) => {
    for (const { step, seen } of taken) {
      if (step.wakeAt === undefined || seen.extent !== 'all') continue;
      expect(step.wakeAt).toBeGreaterThan(seen.at);
    }
  });

  test('every state is reached by some', () => {
    const reached = drives().flatMap(({ taken }) => taken.map(({ step }) => step.state.name));
    const all: readonly StateName[] = ['waiting', 'watching', 'draining', 'stopping', 'killing', 'stopped'];
    expect(new Set(reached)).toEqual(new Set(all));
  });
});

function stops(taken: readonly Taken[]): readonly Taken[] {
  return taken.filter(({ from, step }) => step.state.name === 'stopping' && from.name !== 'stopping');
}

function isClean({ moved }: Step): boolean {
  return moved?.startsWith('everything is read') === true;
}

function cleanStops(taken: readonly Taken[]): readonly Taken[] {
  return stops(taken).filter(({ step }) => isClean(step));
}

/** The chunks that were there when a position moved last. */
function chunksOf({ snapshot: last }: Taken, taken: readonly Taken[]): readonly string[] {
  const chunksIn = ({ buffers }: Snapshot) => (buffers?.outputs ?? []).flatMap(({ chunks }) => chunks);
  const moves = taken.filter(({ seen }, index) => seen.movedAt !== taken[index - 1]?.seen.movedAt);
  const then = moves.findLast(({ snapshot }) => snapshot.at <= last.at);
  const due = new Set(then === undefined ? [] : chunksIn(then.snapshot).map(({ path }) => path));
  return chunksIn(last).flatMap(({ path }) => (due.has(path) ? [path] : []));
}

/** What is unread in a look, told from the bare facts. */
function unreadIn(look: Snapshot): readonly string[] {
  // Only after a start timeout, or a long time, an empty pos file is the word that nothing was logged.
  const unknown = look.posFiles.filter(({ kind }) => kind === 'missing' || kind === 'unreadable');
  const undiscovered = look.followed.flatMap(({ files }) => files.filter(({ size }) => size > 0));
  const known = new Set(
    look.posFiles.flatMap((file) => (file.kind === 'read' ? file.entries : [])).map(({ path }) => path),
  );
  const unseen = look.posFiles
    .flatMap((file) => (file.kind === 'read' ? file.entries : []))
    .filter(
      (entry) => entry.position !== null && look.looks.get(entryKeyIn(POS, entry))?.error !== undefined,
    );
  return [
    ...unknown.map(({ path, kind }) => `${path} ${kind}`),
    ...bytesLeftIn(look),
    ...unseen.map(({ path }) => `${path} unseen`),
    ...undiscovered.filter(({ path }) => !known.has(path)).map(({ path }) => `${path} undiscovered`),
  ];
}

/** Files with a whole line left, or with an end before the position. */
function bytesLeftIn(look: Snapshot): readonly string[] {
  const entries = look.posFiles.flatMap((file) => (file.kind === 'read' ? file.entries : []));
  return entries.flatMap((entry) => {
    const { atPath, newlineLeft } = look.looks.get(entryKeyIn(POS, entry)) ?? {};
    if (entry.position === null || atPath === undefined || atPath.size === entry.position) return [];
    return atPath.size > entry.position && newlineLeft === false ? [] : [`${entry.path} left`];
  });
}

/** The last time at which a position can have changed, by the looks up to this one. */
function lastMovement(taken: readonly Taken[], until: Snapshot): number {
  const looks = [...new Set(taken.map(({ snapshot }) => snapshot))].filter(({ at }) => at <= until.at);
  const positions = new Map<string, number | null>();
  let moved = 0;
  for (const [index, look] of looks.entries()) {
    for (const file of look.posFiles) {
      if (file.kind !== 'read') continue;
      for (const entry of file.entries) {
        const known = positions.get(entryKey(entry));
        const changed = known === undefined || (known !== entry.position && entry.position !== null);
        if (changed)
          moved = Math.max(moved, looks[index - 1]?.at ?? look.at, look.at - Math.max(0, file.writtenAgo));
        positions.set(entryKey(entry), entry.position);
      }
    }
  }
  return moved;
}

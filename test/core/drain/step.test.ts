import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Policy, stopReserve } from '../../../src/core/drain/policy.ts';
import { begin, type State, type StateName } from '../../../src/core/drain/state.ts';
import { step } from '../../../src/core/drain/step.ts';
import { NO_BUFFERS } from '../../../src/core/fluentd/buffer-contents.ts';
import type { Snapshot } from '../../../src/core/look/snapshot.ts';
import { entryKey, entryKeyIn } from '../../../src/core/pos-file/pos-file.ts';
import { RUNS, worldRules, worlds } from '../../support/arbitraries.ts';
import { ABSENT, entry, POS, policy, row, seen, snapshot } from '../../support/builders.ts';
import { drive, type Taken } from '../../support/drive.ts';

test('a Fluentd that comes long after the trigger gets the whole time to drain', () => {
  const requests = [{ by: 'done-file', at: 0 }] as const;
  const late = seen([snapshot(0, [], { fluentd: ABSENT }), snapshot(400_000, [[entry()]], { requests })]);
  const { state } = step(begin(0), late, policy());
  expect(state).toMatchObject({ name: 'draining', trigger: { by: 'done-file', at: 400_000 } });
});

describe('two fluentds', () => {
  test('are both named, with their pids and command lines, when neither has opened the pos file in time', () => {
    const candidates = [row({ pid: 5, argv: ['fluentd', '-c', 'a'] }), row({ pid: 6, argv: ['td-agent'] })];
    const looks = [0, 10_000].map((at) =>
      snapshot(at, [[entry()]], { fluentd: { kind: 'ambiguous', candidates } }),
    );
    expect(step(begin(0), seen(looks.slice(0, 1)), policy()).moved).toBeUndefined();
    expect(step(begin(0), seen(looks), policy()).moved).toMatch(/5.*fluentd -c a.*6.*td-agent/);
  });
});

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

  always('a clean stop finds every file read, every pos file known and every buffer empty', (taken) => {
    for (const { snapshot } of cleanStops(taken)) expect(openIn(snapshot, taken)).toEqual([]);
  });

  always('a clean stop has found everything read at every look of the settle time', (taken, { settle }) => {
    for (const stop of cleanStops(taken)) {
      if (stop.snapshot.requests.length > 1) continue; // A second signal waits for nothing.
      const held = taken.filter(({ seen }) => seen.at > stop.seen.at - settle && seen.at <= stop.seen.at);
      for (const { snapshot } of held) expect(unreadIn(snapshot, taken)).toEqual([]);
    }
  });

  always('an unclean stop has a deadline behind it, or a second signal', (taken, rules) => {
    for (const { seen, step } of stops(taken)) {
      if (step.state.name !== 'stopping' || step.state.gate === undefined) continue;
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

  always('a dry run sends no signal', (taken, rules) => {
    if (rules.dryRun) expect(taken.flatMap(({ step }) => step.actions)).toEqual([]);
  });

  always('what is stopped stays stopped and orders nothing', (taken) => {
    for (const { from, step } of taken) {
      if (from.name === 'stopped') expect(step).toMatchObject({ state: from, actions: [] });
    }
  });

  always('the time to look again is still to come, or posidle could not look at every file', (taken) => {
    for (const { step, seen } of taken) {
      if (step.wakeAt === undefined || !seen.isWhole) continue;
      expect(step.wakeAt).toBeGreaterThan(seen.at);
    }
  });

  test('every state is reached by some', () => {
    const reached = drives().flatMap(({ taken }) => taken.map(({ step }) => step.state.name));
    const all: readonly StateName[] = ['waiting', 'watching', 'draining', 'stopping', 'killing', 'stopped'];
    expect(new Set(reached)).toEqual(new Set(all));
  });
});

test('a Fluentd that is away for a look while its buffers are flushed is waited for', () => {
  const away = seen([snapshot(0, [[entry()]]), snapshot(1_000, [[entry()]], { fluentd: ABSENT })]);
  const trigger = { by: 'done-file', at: 0 } as const;
  const flushed = { flush: { at: 0, buffers: NO_BUFFERS }, emptyAt: 500, closingAt: undefined };
  const draining: State = { name: 'draining', since: 0, trigger, completed: true, ...flushed };
  expect(step(draining, away, policy())).toMatchObject({
    state: { name: 'draining', trigger, completed: true, emptyAt: undefined },
    actions: [],
  });
});

function stops(taken: readonly Taken[]): readonly Taken[] {
  return taken.filter(({ from, step }) => step.state.name === 'stopping' && from.name !== 'stopping');
}

function cleanStops(taken: readonly Taken[]): readonly Taken[] {
  return stops(taken).filter(({ step: { state } }) => state.name === 'stopping' && state.gate === undefined);
}

/** What is open in a look, told from the bare facts. */
function openIn(look: Snapshot, taken: readonly Taken[]): readonly string[] {
  const { outputs = [] } = look.buffers ?? {};
  const isBuffered = outputs.some(({ told }) => (told?.chunks ?? 0) > 0);
  return [...unreadIn(look, taken), ...(isBuffered ? ['a buffer'] : [])];
}

function unreadIn(look: Snapshot, taken: readonly Taken[]): readonly string[] {
  // Only after a start timeout, or a long time, an empty pos file is the word that nothing was logged.
  const unknown = look.posFiles.filter(({ kind }) => kind === 'missing' || kind === 'unreadable');
  const undiscovered = look.followed.flatMap(({ files }) => files.filter(({ size }) => size > 0));
  const known = new Set(
    look.posFiles.flatMap((file) => (file.kind === 'read' ? file.entries : [])).map(({ path }) => path),
  );
  const missing = look.posFiles
    .flatMap((file) => (file.kind === 'read' ? file.entries : []))
    .filter((entry) => {
      const { atPath, error } = look.looks.get(entryKeyIn(POS, entry)) ?? {};
      return (
        entry.position !== null &&
        (error !== undefined || (atPath === undefined && !wasRead(entry, look, taken)))
      );
    });
  return [
    ...unknown.map(({ path, kind }) => `${path} ${kind}`),
    ...bytesLeftIn(look),
    ...missing.map(({ path }) => `${path} unknown`),
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

/** A file that is gone was read to its end when it was last there. */
function wasRead(
  entry: { path: string; inode: string; position: number | null },
  look: Snapshot,
  taken: readonly Taken[],
): boolean {
  const before = taken
    .filter(({ snapshot }) => snapshot.at < look.at)
    .map(({ snapshot }) => snapshot.looks.get(entryKeyIn(POS, entry)));
  const last = before.findLast((file) => file?.atPath !== undefined)?.atPath;
  return last !== undefined && (entry.position ?? 0) >= last.size;
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

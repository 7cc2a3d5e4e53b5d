import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { begin, NEXT, type State, type StateName } from '../../../src/core/drain/state.ts';
import { step } from '../../../src/core/drain/step.ts';
import type { Observation } from '../../../src/core/look/observation.ts';
import type { DrainRequest } from '../../../src/core/progress/drain-request.ts';
import { ABSENT, draining, policy, REMOTE, row, running, seen, snapshot } from '../../support/builders.ts';
import { sized } from '../worlds.ts';

const SEEN = { sightings: new Map(), seen: true, longestGap: undefined };
const AT = 60_000;
const RULES = policy({ doneProcess: true, quiet: 50_000, startTimeout: 70_000, stopTimeout: 100_000 });
const told = { trigger: { by: 'http', at: 0 }, pending: undefined } as const;
const STATES: readonly State[] = [
  begin(0),
  { name: 'watching', since: 0 },
  draining({ trigger: { by: 'quiet', at: 1 } }),
  draining({ trigger: { by: 'done-process', at: 1 } }),
  { name: 'stopping', since: 0, toldAt: 0, told: [4242], ...told },
  { name: 'killing', since: AT - 1_000, killed: 4242, ...told },
  { name: 'stopped', since: 0, end: { kind: 'stopped', why: '' }, ...told },
];

/** Fluentd runs, and 200 bytes are unread. */
const behind = seen([snapshot(0, [sized(300)]), snapshot(AT, [sized(300)])]);
const read = seen([snapshot(0, [sized(100)]), snapshot(AT, [sized(100)])]);
const requests: readonly DrainRequest[] = [{ by: 'done-file', at: AT }];
const movedNow = { progress: { ...behind.progress, movedAt: AT } };
const late = { at: 1_000_000, hasRead: false };
const gone = { fluentd: ABSENT, goneSince: 1 };
const several: Partial<Observation> = {
  fluentd: { kind: 'ambiguous', candidates: [row({ pid: 5 }), row({ pid: 6 })] },
};
const notOurs = { fluentd: running({ proof: 'not-permitted' }) };
const deserted: Partial<Observation> = { fluentd: { kind: 'remote', isOrphaned: true } };

/** Each event with the states that it leads to, one for each of STATES; `-`: it changes nothing. */
const EVENTS: readonly (readonly [string, Partial<Observation>, string])[] = [
  ['nothing new', {}, 'watching - - - - - -'],
  ['nothing was read yet', { hasRead: false }, '- - - - - - -'],
  ['a long time has passed', late, 'draining draining draining stopping killing stopped -'],
  ['everything is read', read, 'watching draining stopping stopping - - -'],
  ['a request', { requests }, 'draining draining draining - - - -'],
  ['lines come in', movedNow, 'watching - watching - - - -'],
  ["main's process is gone", { main: { ...SEEN, goneSince: 1 } }, 'draining draining draining - - - -'],
  ["main's process runs", { main: { ...SEEN, goneSince: undefined } }, 'watching - - watching - - -'],
  ['Fluentd has not come', { fluentd: ABSENT }, '- - - - stopped stopped -'],
  ['Fluentd is gone', gone, 'watching draining stopped stopped stopped stopped -'],
  ['several Fluentds run', several, 'stopped stopped stopped stopped - - -'],
  ['posidle may not signal it', notOurs, 'stopped stopped stopped stopped - - -'],
  ['the child of run left its workers', deserted, 'draining draining draining - - - -'],
  ['Fluentd runs in another container', { fluentd: REMOTE }, 'watching - - - - - -'],
  ['nobody looked in time', { extent: 'overdue' }, 'watching - - - - - -'],
];

describe.each(EVENTS)('%s', (_, changes, expected) => {
  const words = expected.split(' ');
  test.each(STATES.map((state, index) => [state.name, words[index], state] as const))(
    'in the state %s leads to %s',
    (name, word, state) => {
      const { state: next, whyChanged } = step(state, { ...behind, ...changes }, RULES);
      expect(whyChanged === undefined ? '-' : next.name).toBe(word);
      if (whyChanged !== undefined) expect(NEXT[name]).toContain(next.name);
    },
  );
});

test('these events bring about every change of state', () => {
  const made = EVENTS.flatMap(([, , words]) =>
    words.split(' ').flatMap((word, index) => (word === '-' ? [] : [`${STATES[index]?.name} --> ${word}`])),
  );
  expect([...new Set(made)].sort()).toEqual(arrowsOf(NEXT));
});

test('the diagram in ARCHITECTURE.md shows every change of state, and no other', () => {
  const [, diagram = ''] =
    /```mermaid\nstateDiagram-v2\n(.*?)```/s.exec(readFileSync('ARCHITECTURE.md', 'utf8')) ?? [];
  const arrows = [...diagram.matchAll(/^ *([a-z]+ --> [a-z]+)/gm)].map(([, arrow]) => arrow);
  expect([...new Set(arrows)].sort()).toEqual(arrowsOf(NEXT));
});

function arrowsOf(next: Readonly<Record<StateName, readonly StateName[]>>): readonly string[] {
  return Object.entries(next)
    .flatMap(([from, tos]) => tos.map((to) => `${from} --> ${to}`))
    .sort();
}

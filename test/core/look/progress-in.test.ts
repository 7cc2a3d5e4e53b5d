import { describe, expect, test } from 'vitest';
import { observeOverdue } from '../../../src/core/look/observe.ts';
import type { Snapshot } from '../../../src/core/look/snapshot.ts';
import type { Witness } from '../../../src/core/witness/reports.ts';
import { ABSENT, entry, onDisk, policy, seen, snapshot } from '../../support/builders.ts';
import { holding, sight } from '../../support/said.ts';
import { alive, gone, SILENT } from '../../support/witnesses.ts';
import { said, sized } from '../worlds.ts';

const PATH = '/log/a.log';
const behind = sized(130, PATH);
const DIED: Witness = { worker: '1-12.sock', kind: 'gone', report: undefined };

/** The progress if the files show 30 unread bytes, and the witnesses say this. */
function known(witnesses: readonly Witness[] | undefined, changes: Partial<Snapshot> = {}) {
  const reports = witnesses && { at: 0, witnesses };
  const look = snapshot(1_000, [behind], { reports, buffers: onDisk(5), ...changes });
  const { source, left, doubts } = seen([look]).progress;
  return { source, left: left.map((one) => one.kind), doubts: doubts.map(({ kind }) => kind) };
}

describe('the progress comes from', () => {
  const FILES = { source: 'files', left: ['unread', 'held'] };

  test('the files if there is no witness, or none yet, or if Fluentd runs without its own', () => {
    for (const witnesses of [undefined, [], [gone()]])
      expect(known(witnesses)).toEqual({ ...FILES, doubts: ['no-witness'] });
  });

  test('the witnesses if all have answered or ended: the files say nothing more', () => {
    const whole = { source: 'witness', left: [], doubts: [] };
    expect(known([alive()])).toEqual(whole);
    expect(known([gone(), alive()])).toEqual(whole);
    expect(known([DIED, alive()])).toEqual({ ...whole, doubts: ['worker-died'] });
    expect(known([gone()], { fluentd: ABSENT })).toEqual(whole);
  });

  test('the files if a witness does not answer, with that doubt', () => {
    expect(known([SILENT])).toEqual({ ...FILES, doubts: ['no-answer'] });
    const busy = alive({ files: [sight({ pos: 40 })], outputs: [holding('a')] });
    expect(known([busy, SILENT])).toEqual({ ...FILES, doubts: ['no-answer'] });
  });

  test('the files if a worker died, with what the last report of another one names', () => {
    const letGo = (path: string) => gone({ closed: [sight({ path, pos: 10, size: 20 })] });
    const ended = { fluentd: ABSENT };
    const found = { ...FILES, doubts: ['worker-died'] };
    expect(known([DIED, letGo('/log/a.log.1')], ended)).toEqual({
      ...found,
      left: ['unread', 'held', 'let-go'],
    });
    expect(known([DIED, letGo(PATH)], ended)).toEqual(found);
  });

  test('the witnesses if there are no files to look at: a silent one is waited for', () => {
    const silent = known([SILENT], { posFiles: [] });
    expect(silent).toEqual({ source: 'witness', left: [], doubts: ['no-answer'] });
  });
});

/** A look at what a witness says of its one file, and nothing else. */
const look = (at: number, report: object) => snapshot(at, [], { posFiles: [], ...said(alive(report)) });
const readTo = (pos: number) => ({ files: [sight({ pos, size: 100 })], lines: pos / 10 });

test('an overdue look without files names what a worker held when it last answered', () => {
  const before = seen([look(0, { outputs: [holding('a')] })]);
  const now = { at: 9_000, fluentd: ABSENT, requests: [] };
  const { left, doubts } = observeOverdue(before, now, 'witness', policy()).progress;
  expect(left).toEqual([]);
  expect(doubts).toMatchObject([
    { kind: 'no-answer', why: expect.stringContaining('When it last answered') },
  ]);
});

describe('lines may last have reached a buffer', () => {
  const movedAt = (...looks: readonly Snapshot[]) => seen(looks).progress.movedAt;

  test('at the first look, and then whenever a witness has counted more lines', () => {
    expect(movedAt(look(1_000, readTo(40)))).toBe(1_000);
    expect(movedAt(look(1_000, readTo(40)), look(2_000, readTo(40)))).toBe(1_000);
    expect(movedAt(look(1_000, readTo(40)), look(2_000, readTo(41)))).toBe(2_000);
  });

  test('and when a worker has started anew: it has yet to deliver what main left unfinished', () => {
    const half = { files: [sight({ pos: 90, unfinished: 10 })] };
    const anew = [look(1_000, half), look(2_000, { ...half, ready: false }), look(5_000, half)];
    expect(movedAt(...anew)).toBe(5_000);
  });

  test('when the pos files say so, until the witness is asked and sees more', () => {
    const before = snapshot(1_000, [[entry()]]);
    const asked = (at: number, pos: number) => snapshot(at, [[entry()]], said(alive(readTo(pos))));
    expect(movedAt(before, asked(9_000, 90))).toBe(1_000);
    expect(movedAt(before, asked(9_000, 90), asked(10_000, 90))).toBe(1_000);
    expect(movedAt(before, asked(9_000, 90), asked(10_000, 95))).toBe(10_000);
  });
});

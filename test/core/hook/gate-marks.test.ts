import { describe, expect, test } from 'vitest';
import { type GateMarks, type GateWord, gateWord } from '../../../src/core/hook/gate-marks.ts';

const HOOK = 1_000_000;
const PATIENCE = 105_000;
const UNMARKED = { endingAt: undefined, mainEndedAt: undefined };
const NOTHING: GateMarks = { hookAt: HOOK, isUp: false, ...UNMARKED, lives: false };
const UP = { ...NOTHING, isUp: true, lives: true };
const ENDING = { ...UP, endingAt: HOOK + 100 };

describe('the gate', () => {
  /** The Pod ends, and main ended so long after the hook. */
  const ended = (after: number) => ({ ...ENDING, mainEndedAt: HOOK + after });
  const DEAD = { lives: false };
  const late = { endingAt: HOOK - 29_000, mainEndedAt: HOOK - 28_000 };
  const longAgo = { endingAt: HOOK - 31_000, mainEndedAt: HOOK - 30_900 };
  const notStarted = { ...NOTHING, endingAt: HOOK, mainEndedAt: HOOK };

  test.each<[string, GateMarks, number, GateWord]>([
    ['there is no gate', NOTHING, 0, 'main-may-run'],
    ['the gate has not started yet, and its marks are of another time', notStarted, 0, 'main-may-run'],
    ['the gate may still say that the Pod ends', UP, 2_999, 'wait'],
    ['the gate lives, and does not say that the Pod ends', UP, 3_000, 'only-fluentd'],
    ['the gate is dead, and nobody can say that the Pod ends', { ...UP, ...DEAD }, 3_000, 'main-may-run'],
    ['the gate is dead, and may have begun to say it', { ...UP, ...DEAD }, 2_999, 'wait'],
    ['the Pod ends, and main runs', ENDING, 2_999, 'wait'],
    ['main needs long to stop', ENDING, PATIENCE - 1, 'wait'],
    ['main does not stop in time', ENDING, PATIENCE, 'main-may-run'],
    ['the gate dies before main has ended', { ...ENDING, ...DEAD }, 10, 'main-may-run'],
    ['main has ended, and the gate with it', { ...ended(100), ...DEAD }, 10, 'main-ended'],
    ['main has ended, and the gate is about to end', ended(8_000), 8_000, 'main-ended'],
    ['the hook began late on a busy node', { ...ENDING, ...late, ...DEAD }, 10, 'main-ended'],
    ['the gate was replaced, and its marks are of long ago', { ...UP, ...longAgo }, 3_000, 'only-fluentd'],
    ['the gate was replaced before, and main runs now', ended(-60_000), 10, 'wait'],
  ])('%s', (_, marks, after, word) => {
    expect(gateWord(marks, HOOK + after, PATIENCE)).toBe(word);
  });
});

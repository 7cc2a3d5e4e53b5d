import { existsSync, readFileSync } from 'node:fs';
import type { Result } from './matrix.ts';
import type { TriggerName } from './triggers.ts';

export interface ToldOutcome {
  trigger: string | null;
  outcome: string;
}

/** A lucky shutdown saves lines too: what is promised is the proof before the signal, by the trigger that was given. */
export function breachesOf(
  result: Pick<Result, 'lost' | 'endless' | 'exit' | 'signalled'>,
  trigger: TriggerName,
  outcome: ToldOutcome | undefined,
  word: 'drained' | 'unproven',
): string[] {
  const { lost, endless, exit, signalled = Number.NaN } = result;
  const found = {
    [`${lost} lines lost`]: lost > 0,
    'it never ended': endless,
    [`exit ${exit.code ?? exit.signal}`]: exit.code !== 0,
    [`triggered by ${outcome?.trigger}, not by ${trigger}`]: outcome?.trigger !== trigger,
    [`${outcome?.outcome ?? 'no outcome'}, not ${word}`]: outcome?.outcome !== word,
    'no stop signal after the end of main': !(signalled >= 0),
  };
  return Object.keys(found).filter((breach) => found[breach]);
}

/** When posidle says that it sent the stop signal, by the wall clock. */
export function signalledAt(watcherLog: string): number | undefined {
  return logIn(watcherLog).find(({ msg }) => /^sent SIGINT|^told .* to stop$/.test(msg))?.at;
}

export function outcomeIn(watcherLog: string): ToldOutcome | undefined {
  return logIn(watcherLog).findLast(({ outcome }) => outcome !== undefined)?.outcome;
}

interface LogLine {
  /** Wall clock, milliseconds. */
  at: number;
  msg: string;
  outcome?: ToldOutcome;
}

function logIn(watcherLog: string): LogLine[] {
  if (!existsSync(watcherLog)) return [];
  const lines = readFileSync(watcherLog, 'utf8').split('\n');
  const parsed = lines.filter((line) => line.startsWith('{')).map((line) => JSON.parse(line));
  return parsed.map((line): LogLine => ({ ...line, at: Date.parse(line.time) }));
}

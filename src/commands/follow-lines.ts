import { placesOf, undiscoveredOf } from '../core/inspection-order.ts';
import { type Overview, verdictOf } from '../core/overview.ts';
import { printable } from '../core/printable.ts';
import { formatBytes } from '../core/units.ts';
import type { View } from './inspect-table.ts';

/** A live view where there is no terminal: lines with a timestamp, only of what has changed. */
export class FollowedLines {
  readonly #view: View;
  #states = new Map<string, string>();
  #verdict = '';
  #lines = new Set<string>();

  constructor(view: View) {
    this.#view = view;
  }

  /** The verdict where it is another one, and a line for each file with another state. */
  *of(found: Overview, at: Date): Generator<string> {
    const stamp = at.toISOString();
    const states = statesOf(found, this.#view);
    for (const [name, { state, text }] of states) {
      if (this.#states.get(name) === state) continue;
      if (this.#verdict === '' && (state === 'caught-up' || state === 'unwatched')) continue;
      yield `${stamp} ${text}\n`;
    }
    for (const name of this.#states.keys()) if (!states.has(name)) yield `${stamp} ${name} has gone\n`;
    const verdict = verdictOf(found);
    if (verdict !== this.#verdict) yield `${stamp} ${verdict}\n`;
    this.#verdict = verdict;
    this.#states = new Map([...states].map(([name, { state }]) => [name, state]));
  }

  /** The text, unless it is the one before. */
  ifChanged(text: string): readonly string[] {
    return this.onlyChanged([text]);
  }

  /** The lines that were not there in the look before. */
  onlyChanged(lines: Iterable<string>): readonly string[] {
    const now = new Set(lines);
    const changed = [...now].filter((line) => !this.#lines.has(line)).map((line) => `${line}\n`);
    this.#lines = now;
    return changed;
  }
}

interface Told {
  readonly state: string;
  readonly text: string;
}

function statesOf(found: Overview, view: View): ReadonlyMap<string, Told> {
  const states = new Map<string, Told>();
  for (const { path, error } of found.posFiles)
    if (error !== undefined)
      states.set(printable(path), { state: error, text: `${printable(path)}: ${printable(error)}` });
  for (const { posFile, row } of placesOf(found, { states: view.states, sort: undefined })) {
    const { path, inode, state, lag } = posFile.entries.at(row);
    const left = lag === null ? 'lag unknown' : `${formatBytes(lag)} left`;
    const text = `${printable(path)} is ${state}, ${left}`;
    states.set(`${printable(path)} (inode ${inode})`, { state: String(state), text });
  }
  for (const { path, size } of undiscoveredOf(found, view))
    states.set(printable(path), {
      state: 'undiscovered',
      text: `${printable(path)} is undiscovered, ${formatBytes(size)} left`,
    });
  return states;
}

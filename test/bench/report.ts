import { arch, cpus, release } from 'node:os';
import { type Spread, spreadOf } from './figures.ts';
import type { Held, Row } from './rows.ts';

const UNTIL: Readonly<Record<Held, string>> = {
  median: '',
  'times the floor': ' × calls + packages',
  'above the floor': ' above calls + packages',
};

/** A line for each row: medians, and in brackets the least and the most. */
export function report(rows: readonly Row[]): string {
  const machine = `Node ${process.versions.node}, Linux ${release()}, ${cpus().length} × ${arch()}`;
  return [...rows.map(lineOf), machine].join('\n');
}

function lineOf({ name, unit, figures, goal }: Row): string {
  const told = Object.entries(figures).map(([subject, found]) => `${subject} ${inShort(spreadOf(found))}`);
  if (goal === undefined) return `${name}, ${unit}: ${told.join(', ')}`;
  const { median } = spreadOf(figures.posidle ?? []);
  const { median: floor } = spreadOf(figures['calls + packages'] ?? []);
  const { atMost, of = 'median' } = goal;
  const held = { median, 'times the floor': median / floor, 'above the floor': median - floor }[of];
  const isMet = held <= atMost ? 'met' : 'NOT met';
  return `${name}, ${unit}: ${told.join(', ')}; goal ≤ ${atMost}${UNTIL[of]}: ${isMet}`;
}

function inShort({ median, min, max, n }: Spread): string {
  return `${short(median)} (${short(min)}–${short(max)}, n ${n})`;
}

function short(figure: number): string {
  return figure >= 10 ? figure.toFixed(0) : figure.toFixed(2);
}

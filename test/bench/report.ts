import { arch, cpus, release } from 'node:os';
import { type Spread, spreadOf } from './figures.ts';
import type { Held, Row, Subject } from './rows.ts';

const SUBJECTS: readonly Subject[] = ['posidle', 'calls + packages', 'fluentd alone'];

const UNTIL: Readonly<Record<Held, string>> = {
  median: '',
  'times the floor': ' × calls + packages',
  'above the floor': ' above calls + packages',
};

/** The table: medians, and in brackets the least and the most. */
export function markdown(rows: readonly Row[]): string {
  const subjects = SUBJECTS.filter((subject) => rows.some(({ figures }) => figures[subject] !== undefined));
  const cells = [
    ['figure', 'unit', ...subjects, 'goal', 'met', 'n'],
    ['---', '---', ...subjects.map(() => '---:'), '---:', '---', '---:'],
    ...rows.map((row) => cellsOf(row, subjects)),
  ];
  const machine = `Node ${process.versions.node}, Linux ${release()}, ${cpus().length} × ${arch()}`;
  return [...cells.map((row) => `| ${row.join(' | ')} |`), '', machine].join('\n');
}

function cellsOf(row: Row, subjects: readonly Subject[]): readonly string[] {
  const { name, unit, figures, goal } = row;
  const spreads = subjects.map((subject) => figures[subject] && spreadOf(figures[subject]));
  const { median, n } = spreadOf(figures.posidle ?? []);
  const { median: floor } = spreadOf(figures['calls + packages'] ?? []);
  const held: Readonly<Record<Held, number>> = {
    median,
    'times the floor': median / floor,
    'above the floor': median - floor,
  };
  return [
    name,
    unit,
    ...spreads.map((spread) => (spread === undefined ? '' : inShort(spread))),
    ...(goal === undefined
      ? ['', '']
      : [wanted(goal), held[goal.of ?? 'median'] <= goal.atMost ? 'yes' : 'no']),
    String(n),
  ];
}

function wanted({ atMost, of }: NonNullable<Row['goal']>): string {
  return `≤ ${atMost}${UNTIL[of ?? 'median']}`;
}

function inShort({ median, min, max }: Spread): string {
  return `${short(median)} (${short(min)}–${short(max)})`;
}

function short(figure: number): string {
  return figure >= 10 ? figure.toFixed(0) : figure.toFixed(2);
}

import { arch, cpus, release } from 'node:os';
import { type Spread, spreadOf } from './figures.ts';
import type { Held, Row, Subject } from './rows.ts';

const SUBJECTS: readonly Subject[] = ['posidle', 'calls + packages', 'bare node', 'fluentd alone'];

const UNTIL: Readonly<Record<Held, string>> = {
  median: '',
  p99: ' at p99',
  'bare node': ' × bare node',
  'times the floor': ' × calls + packages',
  'above the floor': ' above calls + packages',
};

/** The table: medians, and in brackets the least and the most. */
export function markdown(rows: readonly Row[]): string {
  const subjects = SUBJECTS.filter((subject) => rows.some(({ figures }) => figures[subject] !== undefined));
  const cells = [
    ['figure', 'unit', ...subjects, 'to bare node', 'goal', 'met', 'n'],
    ['---', '---', ...subjects.map(() => '---:'), '---:', '---:', '---', '---:'],
    ...rows.map((row) => cellsOf(row, subjects)),
  ];
  const machine = `Node ${process.versions.node}, Linux ${release()}, ${cpus().length} × ${arch()}`;
  return [...cells.map((row) => `| ${row.join(' | ')} |`), '', machine].join('\n');
}

function cellsOf(row: Row, subjects: readonly Subject[]): readonly string[] {
  const { name, unit, figures, goal } = row;
  const spreads = subjects.map((subject) => figures[subject] && spreadOf(figures[subject]));
  const { median, n, p99 } = spreadOf(figures.posidle ?? []);
  const [bare, floor] = (['bare node', 'calls + packages'] as const).map(
    (subject) => spreadOf(figures[subject] ?? []).median,
  );
  const ratio = figures['bare node'] && median / (bare ?? 0);
  const held: Readonly<Record<Held, number>> = {
    median,
    p99,
    'bare node': median / (bare ?? 0),
    'times the floor': median / (floor ?? 0),
    'above the floor': median - (floor ?? 0),
  };
  return [
    name,
    unit,
    ...spreads.map((spread) => (spread === undefined ? '' : inShort(spread, goal))),
    ratio === undefined ? '' : `${short(ratio)} ×`,
    ...(goal === undefined
      ? ['', '']
      : [wanted(goal), held[goal.of ?? 'median'] <= goal.atMost ? 'yes' : 'no']),
    String(n),
  ];
}

function wanted({ atMost, of }: NonNullable<Row['goal']>): string {
  return `≤ ${atMost}${UNTIL[of ?? 'median']}`;
}

function inShort({ median, min, max, p99 }: Spread, goal: Row['goal']): string {
  const worst = goal?.of === 'p99' ? `; p99 ${short(p99)}` : '';
  return `${short(median)} (${short(min)}–${short(max)}${worst})`;
}

function short(figure: number): string {
  return figure >= 10 ? figure.toFixed(0) : figure.toFixed(2);
}

import { arch, cpus, release } from 'node:os';
import { spreadOf } from './figures.ts';
import type { Row, Subject } from './rows.ts';

const SUBJECTS: readonly Subject[] = ['posidle', 'against', 'stats alone', 'bare node'];

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
  const ratio = ratioOf(row);
  const { median, n } = spreadOf(figures.posidle ?? []);
  const isMet = (goal.of === undefined ? median : (ratio ?? Number.NaN)) <= goal.atMost;
  return [
    name,
    unit,
    ...spreads.map((spread) =>
      spread === undefined ? '' : `${short(spread.median)} (${short(spread.min)}–${short(spread.max)})`,
    ),
    ratio === undefined ? '' : `${short(ratio)} ×`,
    `≤ ${goal.atMost}${goal.of === undefined ? '' : ' ×'}`,
    isMet ? 'yes' : 'no',
    String(n),
  ];
}

function ratioOf({ figures }: Row): number | undefined {
  const { posidle, 'bare node': bare } = figures;
  return posidle && bare && spreadOf(posidle).median / spreadOf(bare).median;
}

function short(figure: number): string {
  return figure >= 10 ? figure.toFixed(0) : figure.toFixed(2);
}

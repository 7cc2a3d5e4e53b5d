import type { Result } from './matrix.ts';
import { strategies, triggered } from './strategies.ts';

/** A row a scenario and version, a column a strategy: lost of written, seconds from main's end to the Pod's. */
export function markdown(results: readonly Result[]): string {
  const columns = [...strategies, ...triggered].filter(({ name }) =>
    results.some(({ strategy }) => strategy === name),
  );
  const rows = groupBy(results, ({ scenario, version }) => `${scenario} ${version}`);
  const lines = [...rows.values()].map((row) => {
    const cells = columns.map(({ name }) => cell(row.filter(({ strategy }) => strategy === name)));
    return [...head(row), ...cells];
  });
  const titles = ['', 'scenario', 'Fluentd', 'lines', ...columns.map(({ title }) => title)];
  const rule = titles.map((_, index) => (index === 0 || index > 2 ? '--:' : '---'));
  return [titles, rule, ...lines].map((line) => `| ${line.join(' | ')} |`).join('\n');
}

function head(row: readonly Result[]): string[] {
  const [first] = row;
  if (first === undefined) return [];
  const { scenario, title, version } = first;
  // `<group>` in a title would be taken for HTML.
  return [String(scenario), title.replaceAll('<', '&lt;'), version, span(row.map(({ written }) => written))];
}

function cell(results: readonly Result[]): string {
  if (results.length === 0) return '';
  const lost = span(results.map((result) => result.lost));
  const disk = span(results.map(({ onDisk }) => onDisk));
  const copies = span(results.map(({ duplicates }) => duplicates));
  const notes = [
    ...(disk === '0' ? [] : [`${disk} on disk`]),
    ...(copies === '0' ? [] : [`${copies} twice`]),
    ...(results.some(({ endless }) => endless) ? ['never ended'] : []),
    ...stopSignal(results),
  ];
  const loss = lost === '0' ? '0 lost' : `**${lost} lost**`;
  return [loss, ...notes, `${span(results.map(({ seconds }) => seconds))} s`].join(', ');
}

/** Where triggers are compared: their part of the time, and Fluentd's own. */
function stopSignal(results: readonly Result[]): string[] {
  const told = results.flatMap(({ signalled }) => signalled ?? []);
  const compared = triggered.some(({ name }) => name === results[0]?.strategy);
  return compared && told.length > 0 ? [`SIGINT at ${span(told)} s`] : [];
}

function span(numbers: readonly number[]): string {
  const [least, most] = [Math.min(...numbers), Math.max(...numbers)].map((n) => n.toLocaleString('en'));
  return least === most ? `${least}` : `${least} to ${most}`;
}

function groupBy<T>(items: readonly T[], key: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) groups.set(key(item), [...(groups.get(key(item)) ?? []), item]);
  return groups;
}

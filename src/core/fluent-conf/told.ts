import { counted } from '../text/units.ts';
import { type ConfProblem, placeText } from './element.ts';

/** As many as an outcome lists. */
const MOST_LISTED = 10;

/** A line for each problem. Equal ones are one line; a reason that several share is told once, above them. */
export function told(problems: readonly ConfProblem[]): readonly string[] {
  return byReason(problems).flatMap((group) => {
    const values = groupedBy(group, ({ text }) => text);
    if (values.length === 1) return [headline(group)];
    const lines = values.map((equal) => `- ${placesOf(equal)}: ${equal[0]?.text}`);
    const more = lines.length - MOST_LISTED;
    const rest = more > 0 ? [`- and ${counted(more, 'more value')}`] : [];
    return [headline(group), ...lines.slice(0, MOST_LISTED), ...rest];
  });
}

/** A line for each reason. */
export function headlines(problems: readonly ConfProblem[]): readonly string[] {
  return byReason(problems).map(headline);
}

function headline(group: readonly ConfProblem[]): string {
  const values = groupedBy(group, ({ text }) => text).length;
  const what = values > 1 ? `${values} values are unknown` : group[0]?.text;
  const why = group[0]?.why;
  return `${placesOf(group)}: ${what}${why === undefined ? '' : `: ${why}`}`;
}

function placesOf([first, ...others]: readonly ConfProblem[]): string {
  const place = first === undefined ? '' : placeText(first.place);
  return place + (others.length > 0 ? ` and ${counted(others.length, 'more place')}` : '');
}

function byReason(problems: readonly ConfProblem[]): readonly (readonly ConfProblem[])[] {
  return groupedBy(problems, ({ text, why }) => why ?? text);
}

function groupedBy<T>(all: readonly T[], keyOf: (one: T) => string): readonly (readonly T[])[] {
  const groups = new Map<string, T[]>();
  for (const one of all) {
    const group = groups.get(keyOf(one)) ?? [];
    groups.set(keyOf(one), group);
    group.push(one);
  }
  return [...groups.values()];
}

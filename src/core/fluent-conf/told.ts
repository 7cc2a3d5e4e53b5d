import { groupedBy } from '../text/lists.ts';
import { counted } from '../text/units.ts';
import { type ConfProblem, placeText } from './element.ts';

/** As many as an outcome lists. */
const MOST_LISTED = 10;

/** A line for each problem. Equal ones are one line; a reason that several values share is told once, above them. */
export function told(problems: readonly ConfProblem[]): readonly string[] {
  return byReason(problems).flatMap((group) => {
    if (group.length === 1 || group[0]?.why === undefined) return [headline(group)];
    const lines = group.slice(0, MOST_LISTED).map(({ place, text }) => `- ${placeText(place)}: ${text}`);
    const more = group.length - MOST_LISTED;
    return [headline(group), ...lines, ...(more > 0 ? [`- and ${counted(more, 'more value')}`] : [])];
  });
}

/** A line for each reason. */
export function headlines(problems: readonly ConfProblem[]): readonly string[] {
  return byReason(problems).map(headline);
}

function headline([first, ...others]: readonly ConfProblem[]): string {
  if (first === undefined) return '';
  const { place, text, why } = first;
  const places = placeText(place) + (others.length > 0 ? ` and ${counted(others.length, 'more place')}` : '');
  const what = why !== undefined && others.length > 0 ? `${others.length + 1} values are unknown` : text;
  return [places, what, ...(why === undefined ? [] : [why])].join(': ');
}

function byReason(problems: readonly ConfProblem[]): readonly (readonly ConfProblem[])[] {
  return [...groupedBy(problems, ({ why, text }) => why ?? text).values()];
}

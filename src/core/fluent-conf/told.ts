import { groupedBy } from '../text/lists.ts';
import { counted } from '../text/units.ts';
import { type ConfProblem, placeText } from './element.ts';

/** A line for each reason: the first problem, and in how many more places there is another one. */
export function told(problems: readonly ConfProblem[]): readonly string[] {
  const groups = groupedBy(problems, ({ why, text }) => why ?? text);
  return [...groups.values()].flatMap(([first, ...others]) => {
    if (first === undefined) return [];
    const { place, text, why } = first;
    const more = others.length > 0 ? ` and ${counted(others.length, 'more place')}` : '';
    return [`${placeText(place)}${more}: ${text}${why === undefined ? '' : `: ${why}`}`];
  });
}

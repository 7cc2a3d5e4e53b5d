import { counted } from '../text/units.ts';
import { type ConfProblem, placeText } from './element.ts';

/** A line for each reason: the first problem, and in how many more places there is another one. */
export function told(problems: readonly ConfProblem[]): readonly string[] {
  const groups = new Map<string, { readonly first: ConfProblem; more: number }>();
  for (const one of problems) {
    const reason = one.why ?? one.text;
    const group = groups.get(reason);
    if (group === undefined) groups.set(reason, { first: one, more: 0 });
    else group.more += 1;
  }
  return [...groups.values()].map(({ first: { place, text, why }, more }) => {
    const places = placeText(place) + (more > 0 ? ` and ${counted(more, 'more place')}` : '');
    return [places, text, ...(why === undefined ? [] : [why])].join(': ');
  });
}

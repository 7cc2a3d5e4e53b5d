import { counted } from '../text/units.ts';
import { type ConfProblem, placeText } from './element.ts';

/** As many as an outcome lists. */
const MOST_LISTED = 10;

/** A line for each problem; equal ones are one line, and a reason of several is told once, above them. */
export function told(problems: readonly ConfProblem[]): readonly string[] {
  const reasons = groupedBy(problems, ({ text, why }) => why ?? text);
  return [...reasons.values()].flatMap((group) => {
    const [{ why } = { why: undefined }] = group;
    const lines = [...groupedBy(group, ({ text }) => text)].map(([text, equal]) => placesOf(equal) + text);
    if (why === undefined || lines.length === 1) return lines.map((line) => line + (why ? `: ${why}` : ''));
    const more = lines.length - MOST_LISTED;
    const rest = more > 0 ? [`and ${counted(more, 'more value')}`] : [];
    return [
      `${counted(lines.length, 'value')} are unknown: ${why}`,
      ...[...lines.slice(0, MOST_LISTED), ...rest].map((line) => `- ${line}`),
    ];
  });
}

function placesOf([first, ...others]: readonly ConfProblem[]): string {
  const place = first === undefined ? '' : placeText(first.place);
  return `${place}${others.length > 0 ? ` and ${counted(others.length, 'more place')}` : ''}: `;
}

function groupedBy<T>(all: readonly T[], keyOf: (one: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const one of all) {
    const group = groups.get(keyOf(one));
    if (group === undefined) groups.set(keyOf(one), [one]);
    else group.push(one);
  }
  return groups;
}

/** Lists in answers may be long, and anybody may write an answer: these take no time that grows with the square of the length. */

export function groupedBy<One>(
  items: Iterable<One>,
  keyOf: (item: One) => string,
): ReadonlyMap<string, [One, ...One[]]> {
  const groups = new Map<string, [One, ...One[]]>();
  for (const item of items) {
    const key = keyOf(item);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [item]);
    else group.push(item);
  }
  return groups;
}

/** The index of the first item that does not pass, where the passing items come first. */
export function firstNot<One>(items: readonly One[], passes: (item: One) => boolean): number {
  let [from, to] = [0, items.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    if (passes(items[middle] as One)) from = middle + 1;
    else to = middle;
  }
  return from;
}

export function sum(numbers: readonly number[]): number {
  return numbers.reduce((all, one) => all + one, 0);
}

const LARGEST = 256;

/** Yields items in batches: one by one is far slower for a million lines. */
export function* inGroups<T>(items: Iterable<T>): Generator<readonly T[]> {
  let group: T[] = [];
  for (const item of items) {
    group.push(item);
    if (group.length < LARGEST) continue;
    yield group;
    group = [];
  }
  if (group.length > 0) yield group;
}

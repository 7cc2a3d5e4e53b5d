const LARGEST = 256;

/** Hands on many items at once: a million lines, handed singly from generator to generator, take as long as making them. */
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

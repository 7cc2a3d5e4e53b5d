/**
 * Sorts rows by the bytes that each of them holds (-1 behind the last), equal ones by their numbers: multikey quicksort, which
 * makes no string of any row and looks at a common beginning once.
 */
export function sortByBytes(rows: Uint32Array, byteAt: (row: number, depth: number) => number): Uint32Array {
  const parts: Part[] = [{ from: 0, to: rows.length, depth: 0 }];
  for (let part = parts.pop(); part !== undefined; part = parts.pop()) {
    const { from, to, depth } = part;
    if (to - from < 2) continue;
    const pivot = byteAt(rows[(from + to) >>> 1] as number, depth);
    let less = from;
    let greater = to;
    for (let at = from; at < greater; ) {
      const byte = byteAt(rows[at] as number, depth);
      if (byte < pivot) swap(rows, less++, at++);
      else if (byte > pivot) swap(rows, at, --greater);
      else at += 1;
    }
    parts.push({ from, to: less, depth }, { from: greater, to, depth });
    if (pivot < 0) rows.subarray(less, greater).sort();
    else parts.push({ from: less, to: greater, depth: depth + 1 });
  }
  return rows;
}

interface Part {
  readonly from: number;
  readonly to: number;
  /** So many bytes are the same in all rows of the part. */
  readonly depth: number;
}

function swap(rows: Uint32Array, a: number, b: number): void {
  const row = rows[a] as number;
  rows[a] = rows[b] as number;
  rows[b] = row;
}

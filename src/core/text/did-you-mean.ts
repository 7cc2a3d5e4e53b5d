/** `Did you mean watch?`; undefined if no word is near enough. */
export function didYouMean(misspelt: string, words: readonly string[], dashes = ''): string | undefined {
  const most = Math.max(1, Math.floor(misspelt.length / 3));
  const [best] = words
    .map((word) => ({ word, edits: editsBetween(misspelt, word) }))
    .filter(({ edits }) => edits <= most)
    .toSorted((a, b) => a.edits - b.edits);
  return best && `Did you mean ${dashes}${best.word}?`;
}

/** Letters added, left out, replaced, or swapped with their neighbour: the Damerau-Levenshtein distance. */
function editsBetween(from: string, to: string): number {
  const edits = [Array.from({ length: to.length + 1 }, (_, index) => index)];
  const at = (row: number, column: number) => edits[row]?.[column] ?? Number.POSITIVE_INFINITY;
  for (let row = 1; row <= from.length; row += 1) {
    edits[row] = [row];
    for (let column = 1; column <= to.length; column += 1) {
      const isSame = from[row - 1] === to[column - 1];
      const isSwapped = from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1];
      const replaced = at(row - 1, column - 1) + (isSame ? 0 : 1);
      const swapped = isSwapped ? at(row - 2, column - 2) + 1 : replaced;
      edits[row]?.push(Math.min(replaced, swapped, at(row - 1, column) + 1, at(row, column - 1) + 1));
    }
  }
  return at(from.length, to.length);
}

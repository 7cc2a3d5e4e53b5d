/** The most columns that a text takes in a terminal. Every character outside of ASCII counts as two, though it may be narrower. */

const ELLIPSIS = '…';
const MAY_BE_WIDE = /[^\x20-\x7e…]/gu;
/** The widest character fits. */
const LEAST_ROOM = 2;

export function widthOf(text: string): number {
  return text.replace(MAY_BE_WIDE, '  ').length;
}

/** Cuts a path in the middle. Keeps more of its end, where the names of log files differ. */
export function shortenMiddle(text: string, width: number): string {
  if (width === Number.POSITIVE_INFINITY || widthOf(text) <= width) return text;
  if (width <= 1) return ELLIPSIS.slice(0, Math.max(0, width));
  const tail = Math.ceil(((width - 1) * 2) / 3);
  const signs = Array.from(text);
  const end = takeWhileFits(signs.toReversed(), tail).toReversed();
  return [...takeWhileFits(signs, width - 1 - tail), ELLIPSIS, ...end].join('');
}

/** Breaks a text at spaces into lines of this width. Indents all lines but the first by two, and cuts a longer word. */
export function wrap(text: string, width: number): readonly string[] {
  const lines: string[] = [];
  let rest = text;
  for (let indent = ''; ; indent = '  ') {
    const room = Math.max(LEAST_ROOM, width - indent.length);
    if (widthOf(rest) <= room) return [...lines, indent + rest];
    const fits = takeWhileFits(Array.from(rest), room + 1).join('');
    const space = fits.lastIndexOf(' ');
    const end = space > 0 ? space : takeWhileFits(Array.from(rest), room).join('').length;
    lines.push(indent + rest.slice(0, end));
    rest = rest.slice(end).replace(/^ +/, '');
  }
}

function takeWhileFits(signs: readonly string[], width: number): readonly string[] {
  let left = width;
  const end = signs.findIndex((sign) => {
    left -= widthOf(sign);
    return left < 0;
  });
  return end < 0 ? signs : signs.slice(0, end);
}

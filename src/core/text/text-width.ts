/** Columns that text takes in a terminal. */

const PLAIN = /^[\x20-\x7e]*$/;
const INVISIBLE = /^[\p{Mn}\p{Me}\p{Cf}\p{Default_Ignorable_Code_Point}]+$/u;
const EMOJI = /\p{Emoji_Presentation}|\p{Emoji}\uFE0F/u;
const SOUND_MARK = /[\uFF9E\uFF9F]$/;
const ELLIPSIS = '…';
/** The widest grapheme fits in. */
const LEAST_ROOM = 4;

/** East Asian Width W and F (Unicode 16, EastAsianWidth.txt), neighbours joined. */
const WIDE =
  /^[\u1100-\u115f\u231a-\u231b\u2329-\u232a\u2e80-\u303e\u3041-\u4dbf\u4e00-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe10-\ufe19\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{16fe0}-\u{18cff}\u{1aff0}-\u{1b2ff}\u{1f200}-\u{1f265}\u{20000}-\u{3fffd}]/u;

/** Making one takes 20 ms: only where there is anything but ASCII. */
let segmenter: Intl.Segmenter | undefined;

export function widthOf(text: string): number {
  if (PLAIN.test(text)) return text.length;
  return graphemes(text).reduce((sum, grapheme) => sum + widthOfGrapheme(grapheme), 0);
}

/** Cut in the middle: the beginning of a path and, longer, its end, where the names of log files differ. */
export function shortenMiddle(text: string, width: number): string {
  if (widthOf(text) <= width) return text;
  if (width <= 1) return ELLIPSIS.slice(0, Math.max(0, width));
  const tail = Math.ceil(((width - 1) * 2) / 3);
  return takeStart(text, width - 1 - tail) + ELLIPSIS + takeEnd(text, tail);
}

/** Cut at the end. */
export function shortenEnd(text: string, width: number): string {
  return widthOf(text) <= width ? text : takeStart(text, Math.max(0, width - 1)) + ELLIPSIS;
}

/** Broken at spaces into lines of that width at most, the second and all after it indented by two; a word that is wider is cut. */
export function wrap(text: string, width: number): readonly string[] {
  const lines: string[] = [];
  let rest = text;
  for (let indent = ''; ; indent = '  ') {
    const room = Math.max(LEAST_ROOM, width - indent.length);
    if (widthOf(rest) <= room) return [...lines, indent + rest];
    const space = takeStart(rest, room + 1).lastIndexOf(' ');
    const end = space > 0 ? space : takeStart(rest, room).length;
    lines.push(indent + rest.slice(0, end));
    rest = rest.slice(end).trimStart();
  }
}

function takeStart(text: string, width: number): string {
  if (PLAIN.test(text)) return text.slice(0, width);
  return takeWhileFits(graphemes(text), width).join('');
}

function takeEnd(text: string, width: number): string {
  if (PLAIN.test(text)) return text.slice(text.length - width);
  return takeWhileFits(graphemes(text).toReversed(), width).toReversed().join('');
}

function takeWhileFits(parts: readonly string[], width: number): readonly string[] {
  let left = width;
  const end = parts.findIndex((part) => {
    left -= widthOfGrapheme(part);
    return left < 0;
  });
  return end < 0 ? parts : parts.slice(0, end);
}

function graphemes(text: string): readonly string[] {
  segmenter ??= new Intl.Segmenter('en', { granularity: 'grapheme' });
  return Array.from(segmenter.segment(text), ({ segment }) => segment);
}

function widthOfGrapheme(grapheme: string): number {
  // The half-width sound marks extend what they follow, and take a column of their own.
  if (SOUND_MARK.test(grapheme) && grapheme.length > 1) return 1 + widthOfGrapheme(grapheme.slice(0, -1));
  if (INVISIBLE.test(grapheme)) return 0;
  return EMOJI.test(grapheme) || WIDE.test(grapheme) ? 2 : 1;
}

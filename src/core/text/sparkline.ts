const BARS = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/** The last `width` values as bars, the largest at full height; nothing left is a gap. */
export function sparkline(values: readonly number[], width: number): string {
  const shown = values.slice(-width);
  const top = shown.reduce((a, b) => Math.max(a, b), 0);
  return shown.map((value) => barOf(value, top)).join('');
}

function barOf(value: number, top: number): string {
  if (value <= 0) return ' ';
  return BARS[Math.min(BARS.length - 1, Math.floor((value / top) * BARS.length))] ?? ' ';
}

const HOME_AND_WIPE = '\x1b[H\x1b[J';

/** Writes text to stdout, and waits until it is taken. What goes wrong comes as an event to the one place that decides what it means (cli.ts). */
export function write(text: string): Promise<void> {
  return new Promise((resolve) => process.stdout.write(text, () => resolve()));
}

/** How wide a line may be; Infinity: no terminal shows it. */
export function widthOfStdout(): number {
  return process.stdout.isTTY ? process.stdout.columns || 80 : Number.POSITIVE_INFINITY;
}

/** Whether stdout is a terminal that knows more than lines. */
export function canDraw(): boolean {
  return process.stdout.isTTY === true && process.env.TERM !== 'dumb';
}

/** Draws the whole terminal anew, but for the line that the prompt takes. */
export function drawAll(
  linesFor: (size: { rows: number; columns: number }) => readonly string[],
): Promise<void> {
  const { rows = 24, columns = 80 } = process.stdout;
  const lines = linesFor({ rows: rows - 1, columns });
  return write(HOME_AND_WIPE + lines.map((line) => `${line}\n`).join(''));
}

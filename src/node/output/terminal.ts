const HOME_AND_WIPE = '\x1b[H\x1b[J';

export function write(text: string): Promise<void> {
  return new Promise((resolve) => process.stdout.write(text, () => resolve()));
}

const PART = 64 * 1024;

/** Writes lines to stdout in parts, because a reader may be slow and very many lines take much memory. */
export async function writeLines(lines: Iterable<string>): Promise<void> {
  let part = '';
  for (const line of lines) {
    part += `${line}\n`;
    if (part.length < PART) continue;
    await write(part);
    part = '';
  }
  await write(part);
}

/** The longest line that fits; Infinity without a terminal. */
export function widthOfStdout(): number {
  return process.stdout.isTTY ? process.stdout.columns || 80 : Number.POSITIVE_INFINITY;
}

export function canDraw(): boolean {
  return process.stdout.isTTY === true && process.env.TERM !== 'dumb';
}

/** Redraws the whole terminal except the line of the prompt. */
export function drawAll(
  linesFor: (size: { rows: number; columns: number }) => readonly string[],
): Promise<void> {
  const { rows = 24, columns = 80 } = process.stdout;
  const lines = linesFor({ rows: rows - 1, columns });
  return write(HOME_AND_WIPE + lines.map((line) => `${line}\n`).join(''));
}

import { setImmediate as nextTurn } from 'node:timers/promises';
import { shortenEnd } from '../../core/text/text-width.ts';

const PORTION = 64 * 1024;
const WIPE_LINE = '\x1b[K';
const HOME_AND_WIPE = '\x1b[H\x1b[J';

/** Writes text to stdout in portions, each when the one before it has been taken. */
export async function writeAll(texts: Iterable<string>): Promise<void> {
  let portion = '';
  for (const text of texts) {
    portion += text;
    if (portion.length < PORTION) continue;
    await write(portion);
    portion = '';
  }
  if (portion !== '') await write(portion);
}

async function write(text: string): Promise<void> {
  const { stdout } = process;
  // The error itself comes as an event to the one place that decides what it means (cli.ts).
  if (!stdout.write(text)) await new Promise<void>((resolve) => stdout.once('drain', resolve));
  await nextTurn();
}

/** How wide a line may be; undefined: as wide as it likes, since no terminal shows it. */
export function widthOfStdout(): number | undefined {
  return process.stdout.isTTY ? process.stdout.columns || 80 : undefined;
}

/** Whether stdout is a terminal that knows more than lines. */
export function canDraw(): boolean {
  return process.stdout.isTTY === true && process.env.TERM !== 'dumb';
}

/** Draws the whole terminal anew, but for the line that the prompt takes. */
export async function drawAll(
  linesFor: (size: { rows: number; columns: number }) => readonly string[],
): Promise<void> {
  const { rows = 24, columns = 80 } = process.stdout;
  const lines = linesFor({ rows: rows - 1, columns });
  await writeAll([HOME_AND_WIPE, ...lines.map((line) => `${line}\n`)]);
}

/** Says how far something is, once it takes longer than a second, and ten times a second at most. */
class Throttle {
  readonly #start = performance.now();
  readonly #say: (text: string) => void;
  #saidAt = Number.NEGATIVE_INFINITY;

  constructor(say: (text: string) => void) {
    this.#say = say;
  }

  get hasSaid(): boolean {
    return Number.isFinite(this.#saidAt);
  }

  /** `isLong`: it is going to take longer than a second, and nothing can be said meanwhile. */
  tell(text: () => string, isLong = false): void {
    const now = performance.now();
    if (!isLong && (now - this.#start < 1_000 || now - this.#saidAt < 100)) return;
    this.#saidAt = now;
    this.#say(text());
  }
}

/** Says on stderr how far something is, where a person looks on; it wipes itself away. */
export class ProgressLine {
  readonly #throttle = new Throttle((text) => {
    // On two lines it could not wipe itself away.
    const line = shortenEnd(text, (process.stderr.columns || 80) - 1);
    process.stderr.write(`\r${line}${WIPE_LINE}`);
  });

  tell(text: () => string, isLong?: boolean): void {
    if (process.stderr.isTTY) this.#throttle.tell(text, isLong);
  }

  wipe(): void {
    if (this.#throttle.hasSaid) process.stderr.write(`\r${WIPE_LINE}`);
  }
}

/** Whether the user, or the system, wants the program to end. */
export class Ending {
  #end: () => void = () => {};
  #isWanted = false;

  constructor() {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => this.want());
  }

  get isWanted(): boolean {
    return this.#isWanted;
  }

  /**
   * What the promise gives; undefined where the end comes first. Not by Promise.race: a promise that stays open keeps alive
   * all that ever raced with it.
   */
  async orEnd<T>(promise: Promise<T>): Promise<T | undefined> {
    if (this.#isWanted) return undefined;
    return new Promise((resolve, reject) => {
      this.#end = () => resolve(undefined);
      promise.then(resolve, reject);
    });
  }

  want(): void {
    this.#isWanted = true;
    this.#end();
  }
}

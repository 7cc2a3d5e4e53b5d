import { writeSync } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { shortenEnd } from '../../core/text/text-width.ts';

const STDOUT = 1;
const PORTION = 64 * 1024;

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

/** Says how far something is, once it takes longer than a second, and ten times a second at most. */
export class Throttle {
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

const ESC = '\x1b';
const ENTER = '\x1b[?1049h\x1b[?25l\x1b[?7l';
const LEAVE = '\x1b[?7h\x1b[?25h\x1b[?1049l';
const HOME = '\x1b[H';
/** Before a line, not behind it: behind a full one the cursor stands on its last character. */
const WIPE_LINE = '\x1b[K';
/** Ctrl-Z; in raw mode it is a key like any other. */
const SUSPEND = '\x1a';

/** The whole terminal: an alternate screen without a cursor, keys as they are pressed. All of it is undone on every end. */
export class Screen {
  #open = false;
  readonly #redraw: () => void;
  readonly #restore = () => this.close();
  /** With no listener left it does what it does by itself: a core dump, and nothing to PID 1. */
  readonly #quit = () => {
    this.#yieldTo('SIGQUIT');
    process.once('SIGQUIT', this.#quit);
  };

  constructor(on: { key: (key: string) => void; resize: () => void }) {
    this.#redraw = on.resize;
    process.stdin.setEncoding('utf8').on('data', (keys) => {
      for (const key of keysIn(String(keys)))
        if (key === SUSPEND) this.#yieldTo('SIGTSTP');
        else on.key(key);
    });
    process.stdout.on('resize', on.resize);
    process.on('SIGCONT', () => this.#comeBack());
    process.once('SIGQUIT', this.#quit);
    process.on('exit', this.#restore);
    process.on('uncaughtExceptionMonitor', this.#restore);
    this.#enter();
  }

  get rows(): number {
    return process.stdout.rows || 24;
  }

  get columns(): number {
    return process.stdout.columns || 80;
  }

  draw(lines: readonly string[]): void {
    if (!this.#open) return;
    const shown = lines.slice(0, this.rows).map((line) => WIPE_LINE + line);
    process.stdout.write(HOME + shown.join('\r\n'));
  }

  /** One line, in place of the first. */
  say(text: string): void {
    this.draw([shortenEnd(text, this.columns)]);
  }

  close(): void {
    if (!this.#open) return;
    this.#open = false;
    if (process.stdin.isTTY) process.stdin.setRawMode(false);
    process.stdin.pause();
    writeNow(LEAVE);
  }

  #enter(): void {
    if (this.#open) return;
    this.#open = true;
    if (process.stdin.isTTY) process.stdin.setRawMode(true).resume();
    writeNow(ENTER);
  }

  #comeBack(): void {
    this.#enter();
    this.#redraw();
  }

  /** Where no shell waits (`kubectl exec -it POD -- posidle …`), the kernel ignores a SIGTSTP: see setpgid(2), orphaned groups. */
  #yieldTo(signal: NodeJS.Signals): void {
    this.close();
    process.kill(process.pid, signal);
    this.#comeBack();
  }
}

/** At once, also where the process is about to end. */
function writeNow(text: string): void {
  try {
    writeSync(STDOUT, text);
  } catch {
    // The terminal is gone.
  }
}

const KEY = new RegExp(`${ESC}\\[[\\d;]*[A-Za-z~]|${ESC}O[A-Z]|[\\s\\S]`, 'gu');

/** Several keys may come in one piece; an escape sequence is one key. */
function keysIn(text: string): readonly string[] {
  return text.match(KEY) ?? [];
}

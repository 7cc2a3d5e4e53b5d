import fc from 'fast-check';
import { POS, posText } from './builders.ts';
import { FakeHost } from './fake-host.ts';

export const POS_FILES = [POS, '/var/log/pos/other.pos'] as const;
const LOGS = ['/var/log/a.log', '/var/log/b.log'] as const;

/** Something that happens to a log file, or to the n-th line of a pos file. */
type Event =
  | { readonly what: 'write'; readonly log: string; readonly text: string }
  | { readonly what: 'cut'; readonly log: string; readonly size: number }
  | { readonly what: 'rename' | 'remove'; readonly log: string }
  | {
      readonly what: 'add';
      readonly posFile: string;
      readonly log: string;
      readonly inode: 'its' | '0' | '1';
    }
  | {
      readonly what: 'read' | 'let go' | 'rewind' | 'open' | 'repeat' | 'drop';
      readonly posFile: string;
      readonly line: number;
    };

/** What happens until a look is taken. */
export interface Turn {
  readonly events: readonly Event[];
  readonly wait: number;
  /** A pos file is emptied for an instant when Fluentd rewrites it. */
  readonly posFile: 'whole' | 'empty' | 'missing';
}

const log = fc.constantFrom(...LOGS);
const posFile = fc.constantFrom(...POS_FILES);
const event: fc.Arbitrary<Event> = fc.oneof(
  fc.record({
    what: fc.constant('write' as const),
    log,
    text: fc.constantFrom('one\n', 'two\n', 'half', '\n', ' a line\nhalf'),
  }),
  fc.record({ what: fc.constant('cut' as const), log, size: fc.constantFrom(0, 2, 5) }),
  fc.record({ what: fc.constantFrom('rename' as const, 'remove' as const), log }),
  fc.record({
    what: fc.constant('add' as const),
    posFile,
    log,
    inode: fc.constantFrom('its' as const, 'its' as const, '0' as const, '1' as const),
  }),
  fc.record({
    what: fc.constantFrom(
      ...(['read', 'read', 'read', 'let go', 'rewind', 'open', 'repeat', 'drop'] as const),
    ),
    posFile,
    line: fc.nat(3),
  }),
);

/** Turns in which files appear, grow, are cut, renamed, removed and made again, and lines of pos files follow them, or do not. */
export const turns: fc.Arbitrary<readonly Turn[]> = fc.array(
  fc.record({
    events: fc.array(event, { maxLength: 3 }),
    wait: fc.constantFrom(250, 1_000, 3_000, 7_500, 12_000),
    posFile: fc.oneof(
      { weight: 9, arbitrary: fc.constant('whole' as const) },
      fc.constantFrom('empty' as const, 'missing' as const),
    ),
  }),
  { minLength: 1, maxLength: 30 },
);

interface Line {
  readonly path: string;
  readonly position: number | null;
  readonly inode: string;
}

/** Log files that are written and rotated, and what a Fluentd would write of them, right or wrong. */
export class LogWorld {
  readonly host = new FakeHost();
  readonly #lines = new Map<string, Line[]>(POS_FILES.map((path) => [path, []]));
  readonly #text = new Map<string, string>();
  #renamed = 0;

  constructor() {
    for (const [index, path] of LOGS.entries()) {
      this.host.writeFile(path, 'one\ntwo\nthree');
      this.#linesOf(POS).push({ path, position: index * 4, inode: this.#inodeAt(path) });
    }
    this.#write(POS);
  }

  async turn({ events, wait, posFile }: Turn): Promise<void> {
    for (const event of events) this.#happen(event);
    for (const path of POS_FILES) this.#write(path, posFile);
    await this.host.sleep(this.host.now() + wait);
  }

  #happen(event: Event): void {
    const { host } = this;
    const file = 'log' in event ? host.files.get(event.log) : undefined;
    if (event.what === 'write') host.appendLog(event.log, event.text);
    else if (event.what === 'cut' && file) host.writeFile(event.log, file.bytes.subarray(0, event.size));
    else if (event.what === 'rename' && file) host.rename(event.log, `${event.log}.${++this.#renamed}`);
    else if (event.what === 'remove') host.files.delete(event.log);
    else if (event.what === 'add') {
      const inode = event.inode === 'its' ? this.#inodeAt(event.log) : event.inode;
      this.#linesOf(event.posFile).push({ path: event.log, position: 0, inode });
    } else if ('line' in event) this.#change(event.what, this.#linesOf(event.posFile), event.line);
  }

  #change(
    what: 'read' | 'let go' | 'rewind' | 'open' | 'repeat' | 'drop',
    lines: Line[],
    index: number,
  ): void {
    const line = lines[index];
    if (line === undefined) return;
    const { path, inode } = line;
    if (what === 'drop') lines.splice(index, 1);
    else if (what === 'repeat') lines.push({ ...line, position: 2 });
    else if (what === 'let go') lines[index] = { ...line, position: null };
    else if (what === 'rewind') lines[index] = { ...line, position: 0 };
    else if (what === 'open') lines[index] = { path, position: 0, inode: this.#inodeAt(path) };
    else lines[index] = { ...line, position: this.#endOf(inode) ?? line.position };
  }

  #linesOf(posFile: string): Line[] {
    return this.#lines.get(posFile) ?? [];
  }

  #inodeAt(path: string): string {
    return this.host.files.get(path)?.inode ?? '0';
  }

  /** Behind the last newline of a file, wherever it lies. */
  #endOf(inode: string): number | undefined {
    const file = [...this.host.files.values()].find((other) => other.inode === inode);
    return file && file.bytes.lastIndexOf(0x0a) + 1;
  }

  /** A pos file is dated when it changes. */
  #write(path: string, how: Turn['posFile'] = 'whole'): void {
    const text = how === 'whole' ? posText(this.#linesOf(path)) : '';
    if (how === 'missing') this.host.files.delete(path);
    else if (this.#text.get(path) !== text || !this.host.files.has(path)) this.host.writeFile(path, text);
    this.#text.set(path, text);
  }
}

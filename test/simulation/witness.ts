import type { Millis } from '../../src/core/text/units.ts';
import type {
  FileReport,
  Message,
  OutputReport,
  Report,
  WorkerReport,
} from '../../src/core/witness/answer.ts';
import { alive } from '../support/witnesses.ts';
import { LINE_BYTES, type LogFile, sizeOf } from './log-files.ts';
import type { Watcher } from './watcher.ts';

/** The meaning of a message for the records: see the tables of messages in src/core/witness. */
export type LogLine = Pick<Message, 'level' | 'text'>;

/** What a healthy witness says, with one file and one output. */
export const SAID = (alive() as WorkerReport).report;

interface Closed extends Watcher, Pick<FileReport, 'at' | 'print' | 'wasFollowed'> {}

/** The parts of an answer that change while the worker lives. */
type Now = Pick<Report, 'isReady' | 'files' | 'unfound' | 'siblings' | 'outputs'>;

/** The probe in a worker. It sees each event, even of a short-lived file. */
export class FileHistory {
  readonly #closed = new Map<LogFile, Closed>();
  readonly #begun = new Set<LogFile>();
  /** At which it has followed a file. */
  readonly paths = new Set<string>();
  readonly #cuts: Report['cuts'][number][] = [];
  readonly #starts: Report['starts'][number][] = [];
  readonly #lost: Report['lost'][number][] = [];
  readonly #messages = new Map<string, Message>();
  /** Paths of chunks that Fluentd has put aside: it logs each. */
  readonly aside: string[] = [];
  #resumed: readonly string[] = [];
  /** in_tail runs, or did. */
  isReading = false;
  /** Lines that a buffer took. */
  lines = 0;

  begins(path: string, file: LogFile, position: number): void {
    const print = printOf(file, position);
    if (position > 0) this.#starts.push({ ...factsOf(path, file), position, print, isOld: false });
    this.#begun.add(file);
    this.paths.add(path);
  }

  /** `isAtItsPath`: in_tail has followed it there until the end. */
  closes(watcher: Watcher, isAtItsPath: boolean, at: Millis): void {
    const print = printOf(watcher.file, watcher.read * LINE_BYTES);
    this.#closed.set(watcher.file, { ...watcher, at, print, wasFollowed: isAtItsPath });
  }

  /** in_tail turns to another file in its place: nobody saw how far it was read. */
  forgets(file: LogFile): void {
    this.#begun.delete(file);
  }

  /** in_tail notices that a file is shorter than before. */
  cut(watcher: Watcher): void {
    this.#cuts.push({ ...sightOf(watcher, 0), sizeBefore: watcher.file.cutAt });
  }

  /** A file was cut short and filled again, and in_tail has not noticed. */
  writtenAnew(path: string): void {
    this.#lost.push(anew(path));
  }

  /** A file has left its path, or was cut short, and in_tail had not found it. */
  leaves(path: string, file: LogFile): void {
    const size = sizeOf(file);
    if (this.#begun.has(file) || size === 0) return;
    const print = printOf(file, size);
    this.#lost.push({ ...factsOf(path, file), print, why: 'never followed', bytes: size });
  }

  logs({ level, text }: LogLine): void {
    const n = (this.#messages.get(text)?.n ?? 0) + 1;
    const file = 'fluent/plugin/output.rb';
    this.#messages.set(text, { level, file, text, error: null, n });
  }

  resumes(ids: readonly string[]): void {
    this.#resumed = ids;
  }

  hasBegun(file: LogFile): boolean {
    return this.#begun.has(file);
  }

  report(pid: number, now: Now): Report {
    return { ...NOTHING, ...this.#soFar(), ...now, pid };
  }

  /** Its buffers are closed, with this in them. */
  lastReport(pid: number, seen: Pick<Report, 'siblings' | 'unfound'>, ends: readonly OutputReport[]): Report {
    return { ...NOTHING, ...this.#soFar(), ...seen, pid, isFinal: true, isReady: this.isReading, ends };
  }

  /** Closed files with other bytes than those that were read. */
  #writtenAnew(): Report['lost'] {
    return [...this.#closed.values()].flatMap(({ path, file, read, print }) =>
      sizeOf(file) >= read * LINE_BYTES && printOf(file, read * LINE_BYTES) !== print ? [anew(path)] : [],
    );
  }

  #soFar() {
    return {
      closed: [...this.#closed.values()].map((file) => ({
        ...sightOf(file, file.at),
        print: file.print,
        wasFollowed: file.wasFollowed,
      })),
      readers: this.isReading ? [READER] : [],
      lines: this.lines,
      cuts: [...this.#cuts],
      starts: [...this.#starts],
      lost: [...this.#lost, ...this.#writtenAnew()],
      messages: [...this.#messages.values()],
      aside: [...this.aside],
      resumed: this.#resumed,
    };
  }
}

/** What is told of any file. Of one that is gone nothing is known. */
export function factsOf(path: string, file?: LogFile, at: Millis = 0) {
  const [one] = SAID.files as readonly [FileReport];
  const [key, size] = [file?.inode ?? '', file && sizeOf(file)];
  return { ...one, path, inode: key, identity: key, key, at, size, reader: READER };
}

export function sightOf({ path, file, read, unfinished }: Watcher, at: Millis): FileReport {
  return { ...factsOf(path, file, at), position: read * LINE_BYTES, unfinished };
}

/** The fingerprint of the bytes before a position: here the last line that ends there. */
function printOf({ lines }: LogFile, position: number): number | undefined {
  return lines[position / LINE_BYTES - 1];
}

function anew(path: string): Report['lost'][number] {
  return { ...factsOf(path), why: 'written anew', bytes: 0 };
}

/** The one in_tail. */
const READER = 'tail';

const NOTHING: Report = {
  ...SAID,
  outputs: [],
  files: [],
  plugins: [{ class: 'Fluent::Plugin::TailInput', settings: { multiline_mode: false } }],
};

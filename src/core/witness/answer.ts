/**
 * The protocol: one word to the socket (`look`, `flush`, `stop`), one line of JSON back. A neighbour's container may share the
 * directory, so nothing in an answer is believed beyond these bounds. An unknown version is not believed; an unknown field is passed over.
 */
import { formatBytes } from '../text/units.ts';
import type { Heard } from './messages.ts';

const VERSION = 1;
/** 20,000 files take some 4 MB. */
export const LONGEST_ANSWER = 16 * 2 ** 20;
const DEEPEST = 12;
/** 20,000 files have some 200,000 fields. */
export const MOST_FIELDS = 400_000;
const MOST_FILES = 20_000;
const MOST = 5_000;
const LONGEST_TEXT = 4_096;

export type FileSight = Readonly<ReturnType<typeof fileSight>>;
export type OutputSight = Readonly<ReturnType<typeof outputSight>>;
/** What one worker's witness said: an answer, or its last word. */
export type Said = Readonly<ReturnType<typeof saidIn>>;

/** Why an answer is not believed. */
export interface NotBelieved {
  readonly notBelieved: string;
}

/** What is believed of all answers to one question together. */
export interface Bounds {
  fields: number;
}

/** The answer to `look`. Before Fluentd is ready a list may be missing. */
export function parseAnswer(text: string, bounds?: Bounds): Said | NotBelieved {
  return believing(text, (fields) => saidIn(new Answer(fields, fields['ready'] === true)), bounds);
}

/** What a worker's witness wrote as it ended. A list that is not there is empty. */
export function parseLastWord(text: string, bounds?: Bounds): Said | NotBelieved {
  return believing(text, (fields) => saidIn(new Answer(fields, false)), bounds);
}

/** The answer to `flush` and `stop`: undefined where it was done. */
export function parseDone(text: string): string | undefined {
  const done = believing(text, (fields) => ({ isDone: 'done' in fields }));
  if ('notBelieved' in done) return done.notBelieved;
  return done.isDone ? undefined : 'it was not done';
}

function saidIn(answer: Answer) {
  return {
    pid: answer.number('pid'),
    supervisor: answer.maybeNumber('supervisor'),
    isReady: answer.is('ready', true),
    /** A last word: the worker ended well. */
    isFinal: answer.is('final', true),
    error: answer.maybeText('error'),
    /** The longest time between two of its looks, in milliseconds. */
    gap: answer.count('gap') * 1_000,
    /** The inputs of in_tail. */
    readers: answer.texts('readers'),
    files: answer.list('files', fileSight, MOST_FILES),
    closed: answer.list('closed', fileSight),
    /** Files that were cut short: `had` bytes were in it at most a second before. */
    cuts: answer.list('cuts', (cut) => ({ ...fileSight(cut), had: cut.number('had'), at: cut.count('at') })),
    /** Where in_tail began to read a file that it did not read from its first byte. */
    starts: answer.list('starts', (start) => ({
      path: start.text('path'),
      key: keyOf(start),
      position: start.number('pos'),
      size: start.maybeNumber('size'),
      /** Of the bytes before the position. */
      print: start.maybeNumber('print'),
      /** The file is older than the Pod. */
      isOld: (start.maybeNumber('born') ?? Number.NEGATIVE_INFINITY) < answer.count('pod'),
    })),
    lost: answer.list('lost', (file) => ({ path: file.text('path'), why: file.text('why') })),
    /** Files that the paths name and nobody follows. */
    unfound: answer.list('unfound', (file) => ({
      path: file.text('path'),
      size: file.maybeNumber('size'),
      key: keyOf(file),
      isUnreadable: file.is('readable', false),
    })),
    /** Directories. */
    denied: answer.texts('denied'),
    /** Files beside a followed one that look like its rotated form, and that nobody read in this life. */
    siblings: answer.list('siblings', (file) => ({
      path: file.text('path'),
      size: file.maybeNumber('size'),
      inode: String(file.maybeNumber('inode')),
      /** The size of what is in it, where it is compressed. */
      plain: file.maybeNumber('plain'),
      /** The times of the cuts of which it may be the copy: by its name, and by its bytes where it is not compressed. */
      cuts: file.texts('cuts'),
      /** When it was written last, in milliseconds since 1970. */
      at: file.count('at'),
    })),
    /** Records outside any buffer. */
    kept: answer.list('held', (held) => ({ plugin: held.text('class'), records: held.number('n') })),
    outputs: answer.list('outputs', outputSight),
    /** The inputs of in_tail, and the filters. */
    plugins: answer.list('plugins', pluginSight),
    heard: answer.list('heard', heard),
    /** Outputs at the moment when their buffer was closed. */
    ends: answer.list('ends', outputSight),
    /** Ids of chunks that a buffer found on disk when it started. */
    resumed: answer.texts('resumed'),
    /** How often lines that were in a chunk came into a new one. */
    again: answer.count('again'),
    /** What the witness had to forget. */
    more: answer.count('more'),
  };
}

/** What one in_tail knows of one file. Positions and sizes in bytes. */
function fileSight(file: Answer) {
  // Made after in_tail let go of it: another file has its inode.
  const isOther = file.count('born') > (file.maybeNumber('at') ?? Number.POSITIVE_INFINITY);
  return {
    path: file.text('path'),
    inode: String(file.number('inode')),
    /** Names the file and the input that reads it: another input has a position of its own. The next worker's input has the same name. */
    key: keyOf(file),
    position: file.number('pos'),
    /** undefined: it is not there, or another file is. */
    size: isOther ? file.number('pos') : file.maybeNumber('size'),
    /** Bytes of a last line without its newline, lines that were read and not emitted, bytes of a record of several lines. */
    unfinished: file.count('unfinished'),
    lines: file.count('lines'),
    record: file.count('record'),
    /** Fluentd may not read it. */
    isUnreadable: file.is('readable', false),
    /** The input that reads it. */
    reader: file.maybeText('reader') ?? '',
    /** Of the bytes before the position, when in_tail closed it or shortly before it was cut; undefined: they could not be read. */
    print: file.maybeNumber('print'),
    /** in_tail followed it at its path until the worker ended. */
    wasFollowed: file.is('followed', true),
  };
}

function keyOf(file: Answer): string {
  return `${file.maybeNumber('inode')} ${file.maybeText('reader') ?? ''}`;
}

function pluginSight(plugin: Answer) {
  return { class: plugin.text('class'), settings: plugin.settings('settings') };
}

function outputSight(output: Answer) {
  const isBuffered = output.has('n');
  return {
    ...pluginSight(output),
    id: output.text('id'),
    isBuffered,
    isRetrying: output.is('retry', true),
    /** Staged, queued and taken out to be written. */
    chunks: output.count('n'),
    bytes: output.count('bytes'),
    /** undefined: too many to name. */
    ids: !isBuffered ? [] : output.has('chunks') ? output.texts('chunks') : undefined,
  };
}

function heard(said: Answer): Heard {
  return {
    level: said.maybeText('level') ?? '',
    file: said.maybeText('file') ?? '',
    text: said.maybeText('text') ?? '',
    error: said.maybeText('error') ?? null,
    tag: said.maybeText('tag') ?? null,
    during: said.is('during', 'flush') ? 'flush' : null,
    n: said.number('n'),
  };
}

class Unbelievable extends Error {}

type Fields = Readonly<Record<string, unknown>>;

/** One object of an answer: each field is believed as what it must be, within its bound. */
class Answer {
  readonly #fields: Fields;
  readonly #isWhole: boolean;

  /** `isWhole`: a list that is missing is a mistake. */
  constructor(fields: Fields, isWhole: boolean) {
    this.#fields = fields;
    this.#isWhole = isWhole;
  }

  has(name: string): boolean {
    return (this.#fields[name] ?? undefined) !== undefined;
  }

  is(name: string, value: boolean | string): boolean {
    return this.#fields[name] === value;
  }

  text(name: string): string {
    return words(this.#fields[name]);
  }

  maybeText(name: string): string | undefined {
    return this.has(name) ? this.text(name) : undefined;
  }

  number(name: string): number {
    const value = this.#fields[name];
    if (typeof value !== 'number' || !Number.isFinite(value))
      throw new Unbelievable('a number is missing in it');
    return value;
  }

  maybeNumber(name: string): number | undefined {
    return this.has(name) ? this.number(name) : undefined;
  }

  /** What is not there is 0. A buffer's own count may fall below 0 (fluentd#5303). */
  count(name: string): number {
    return Math.max(0, this.maybeNumber(name) ?? 0);
  }

  list<One>(name: string, read: (item: Answer) => One, most = MOST): readonly One[] {
    return this.#items(name, most).map((item) => read(new Answer(object(item), true)));
  }

  texts(name: string): readonly string[] {
    return this.#items(name, MOST).map(words);
  }

  settings(name: string): Readonly<Record<string, boolean | number | string>> {
    const given = Object.entries(this.has(name) ? object(this.#fields[name]) : {}).filter(
      (pair): pair is [string, boolean | number | string] =>
        ['boolean', 'number', 'string'].includes(typeof pair[1]),
    );
    return Object.fromEntries(given.slice(0, 50));
  }

  #items(name: string, most: number): readonly unknown[] {
    const value = this.#fields[name];
    if (value === undefined && !this.#isWhole) return [];
    if (!Array.isArray(value)) throw new Unbelievable('a list is missing in it');
    if (value.length > most) throw new Unbelievable(`a list in it has more than ${most} items`);
    return value;
  }
}

function object(value: unknown): Fields {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new Unbelievable('an object is missing in it');
  return value as Fields;
}

function words(value: unknown): string {
  if (typeof value !== 'string') throw new Unbelievable('a text is missing in it');
  return value.slice(0, LONGEST_TEXT);
}

function believing<Value extends object>(
  text: string,
  read: (fields: Fields) => Value,
  bounds: Bounds = { fields: MOST_FIELDS },
): Value | NotBelieved {
  try {
    if (text.length > LONGEST_ANSWER)
      throw new Unbelievable(`it is longer than ${formatBytes(LONGEST_ANSWER)}`);
    bounds.fields -= fieldsIn(text, bounds.fields);
    const fields = object(JSON.parse(text));
    const { v: version, error } = fields;
    if (version !== VERSION)
      throw new Unbelievable(`its version is ${String(version).slice(0, 20)}, not ${VERSION}`);
    if (typeof error === 'string' && !('pid' in fields)) throw new Unbelievable(words(error));
    return read(fields);
  } catch (error) {
    if (error instanceof Unbelievable) return { notBelieved: error.message };
    if (error instanceof SyntaxError) return { notBelieved: 'it is no JSON' };
    throw error;
  }
}

/** A parser takes memory for each bracket and each comma: what is too many is told first. */
function fieldsIn(text: string, most: number): number {
  let depth = 0;
  let fields = 0;
  let isInText = false;
  for (let at = 0; at < text.length; at += 1) {
    const char = text[at];
    if (char === '"') isInText = !isInText;
    else if (isInText) {
      if (char === '\\') at += 1;
    } else if (char === '[' || char === '{') {
      depth += 1;
      fields += 1;
      if (depth > DEEPEST) throw new Unbelievable('it is nested too deeply');
    } else if (char === ']' || char === '}') depth -= 1;
    else if (char === ',') fields += 1;
    if (fields > most) throw new Unbelievable(`it has more than ${most} fields`);
  }
  return fields;
}

/**
 * The protocol: one word to the socket (`look`, `flush`, `stop`), one line of JSON back. A neighbour's container may share the
 * directory, so nothing in an answer is believed beyond these bounds. An unknown version is not believed; an unknown field is passed over.
 */
import { formatBytes } from '../text/units.ts';
import type { Heard } from './messages.ts';

const VERSION = 1;
/** 20,000 files take some 4 MB. */
export const LONGEST_ANSWER = 16 * 1024 ** 2;
const DEEPEST = 12;
/** 20,000 files have some 200,000 fields. */
const MOST_FIELDS = 400_000;
const MOST_FILES = 20_000;
const MOST = 5_000;
const LONGEST_TEXT = 4_096;

/** What one in_tail knows of one file. Positions and sizes in bytes. */
export interface FileSight {
  readonly path: string;
  readonly inode: string;
  /** Names the file and the input that reads it: another input has a position of its own. The next worker's input has the same name. */
  readonly key: string;
  readonly position: number;
  /** undefined: it is not there, or another file is. */
  readonly size: number | undefined;
  /** Bytes of a last line without its newline, lines that were read and not emitted, bytes of a record of several lines. */
  readonly unfinished: number;
  readonly lines: number;
  readonly record: number;
  /** Fluentd may not read it. */
  readonly isUnreadable: boolean;
  /** The input that reads it. */
  readonly reader: string;
  /** Of the bytes before the position, when in_tail closed it; undefined: they could not be read. */
  readonly print: number | undefined;
  /** in_tail followed it at its path until the worker ended. */
  readonly wasFollowed: boolean;
}

/** A file that was cut short: `had` bytes were in it at most a second before. */
interface Cut extends FileSight {
  readonly had: number;
  /** In milliseconds since 1970. */
  readonly at: number;
}

/** Where in_tail began to read a file that it did not read from its first byte. */
interface Start {
  readonly path: string;
  readonly key: string;
  readonly position: number;
  /** Of the bytes before the position. */
  readonly print: number | undefined;
  /** The file is older than the Pod. */
  readonly isOld: boolean;
}

interface LostSight {
  readonly path: string;
  readonly why: string;
}

interface Unfound {
  readonly path: string;
  readonly size: number | undefined;
}

/** A file that the paths name and nobody follows. */
interface Unfollowed extends Unfound {
  readonly key: string;
  /** Fluentd may not read it. */
  readonly isUnreadable: boolean;
}

/** A file beside a followed one that looks like its rotated form, and that nobody read in this life. */
interface Sibling extends Unfound {
  readonly inode: string;
  /** The size of what is in it, where it is compressed. */
  readonly plain: number | undefined;
  /** The followed file. */
  readonly followed: string;
  /** When it was written last, in milliseconds since 1970. */
  readonly at: number;
}

/** Records outside any buffer. */
interface Kept {
  readonly plugin: string;
  readonly records: number;
}

type Setting = boolean | number | string;

interface PluginSight {
  readonly class: string;
  readonly settings: Readonly<Record<string, Setting>>;
}

export interface OutputSight extends PluginSight {
  readonly id: string;
  readonly isBuffered: boolean;
  readonly isRetrying: boolean;
  /** Staged, queued and taken out to be written. */
  readonly chunks: number;
  readonly bytes: number;
  /** undefined: too many to name. */
  readonly ids: readonly string[] | undefined;
}

/** What one worker's witness said: an answer, or its last word. */
export interface Said {
  readonly pid: number;
  readonly supervisor: number | undefined;
  readonly isReady: boolean;
  /** A last word: the worker ended well. */
  readonly isFinal: boolean;
  readonly error: string | undefined;
  readonly reloads: number;
  /** The longest time between two of its looks, in milliseconds. */
  readonly gap: number;
  /** The inputs of in_tail. */
  readonly readers: readonly string[];
  readonly files: readonly FileSight[];
  readonly closed: readonly FileSight[];
  readonly cuts: readonly Cut[];
  readonly starts: readonly Start[];
  readonly lost: readonly LostSight[];
  readonly unfound: readonly Unfollowed[];
  readonly denied: readonly string[];
  readonly siblings: readonly Sibling[];
  readonly kept: readonly Kept[];
  readonly outputs: readonly OutputSight[];
  readonly filters: readonly PluginSight[];
  readonly inputs: readonly PluginSight[];
  readonly heard: readonly Heard[];
  /** Outputs at the moment when their buffer was closed. */
  readonly ends: readonly OutputSight[];
  /** Ids of chunks that a buffer found on disk when it started. */
  readonly resumed: readonly string[];
  /** How often lines that were in a chunk came into a new one. */
  readonly again: number;
  /** What the witness had to forget. */
  readonly more: number;
}

/** Why an answer is not believed. */
export interface NotBelieved {
  readonly notBelieved: string;
}

/** The answer to `look`. Before Fluentd is ready a list may be missing. */
export function parseAnswer(text: string): Said | NotBelieved {
  return believing(text, (object) => saidIn(object, object['ready'] === true));
}

/** What a worker's witness wrote as its buffers were closed. A list that is not there is empty. */
export function parseLastWord(text: string): Said | NotBelieved {
  return believing(text, (object) => saidIn(object, false));
}

/** The answer to `flush` and `stop`: undefined where it was done. */
export function parseDone(text: string): string | undefined {
  const done = believing(text, (object) => ({ isDone: 'done' in object }));
  if ('notBelieved' in done) return done.notBelieved;
  return done.isDone ? undefined : 'it was not done';
}

class Unbelievable extends Error {}

type Fields = Readonly<Record<string, unknown>>;
type Reader<Value> = (value: unknown) => Value;

function believing<Value extends object>(text: string, read: (object: Fields) => Value): Value | NotBelieved {
  try {
    if (text.length > LONGEST_ANSWER)
      throw new Unbelievable(`it is longer than ${formatBytes(LONGEST_ANSWER)}`);
    const shape = shapeOf(text);
    if (shape !== undefined) throw new Unbelievable(shape);
    const object = fields(JSON.parse(text));
    const version = object['v'];
    if (version !== VERSION)
      throw new Unbelievable(`its version is ${String(version).slice(0, 20)}, not ${VERSION}`);
    if (typeof object['error'] === 'string' && !('pid' in object))
      throw new Unbelievable(words(object['error']));
    return read(object);
  } catch (error) {
    if (error instanceof Unbelievable) return { notBelieved: error.message };
    if (error instanceof SyntaxError) return { notBelieved: 'it is no JSON' };
    throw error;
  }
}

/** A parser takes memory for each bracket and each comma: what is too many is told first. */
function shapeOf(text: string): string | undefined {
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
      if (depth > DEEPEST) return 'it is nested too deeply';
    } else if (char === ']' || char === '}') depth -= 1;
    else if (char === ',') fields += 1;
    if (fields > MOST_FIELDS) return `it has more than ${MOST_FIELDS} fields`;
  }
  return undefined;
}

/** `isWhole`: a list that is missing is a mistake. */
function saidIn(object: Fields, isWhole: boolean): Said {
  const list = <One>(name: string, read: Reader<One>, most = MOST): readonly One[] =>
    object[name] === undefined && !isWhole ? [] : listOf(read, most)(object[name]);
  const readers = list('readers', words);
  const file: Reader<FileSight> = (value) => fileSight(value, readers);
  return {
    pid: number(object['pid']),
    supervisor: maybe(number)(object['supervisor']),
    isReady: object['ready'] === true,
    isFinal: object['final'] === true,
    error: maybe(words)(object['error']),
    reloads: count(object['reloads']),
    gap: count(object['gap']) * 1_000,
    readers,
    files: list('files', file, MOST_FILES),
    closed: list('closed', file),
    cuts: list('cuts', (value) => {
      const { had, at } = fields(value);
      return { ...file(value), had: number(had), at: count(at) };
    }),
    starts: list('starts', (value) => start(value, readers, count(object['pod']))),
    lost: list('lost', (value) => {
      const { path, why } = fields(value);
      return { path: words(path), why: words(why) };
    }),
    unfound: list('unfound', (value) => {
      const { readable } = fields(value);
      return { ...unfound(value), key: keyOf(value, readers), isUnreadable: readable === false };
    }),
    denied: list('denied', words),
    siblings: list('siblings', (value) => {
      const { plain, followed, at } = fields(value);
      return {
        ...unfound(value),
        inode: String(maybe(number)(fields(value)['inode'])),
        plain: maybe(number)(plain),
        followed: words(followed ?? ''),
        at: count(at),
      };
    }),
    kept: list('held', (value) => {
      const { class: plugin, n } = fields(value);
      return { plugin: words(plugin), records: number(n) };
    }),
    outputs: list('outputs', outputSight),
    filters: list('filters', pluginSight),
    inputs: list('inputs', pluginSight),
    heard: list('heard', heard),
    ends: list('ends', (value) => withChunksOfIds(outputSight(value))),
    resumed: list('resumed', words),
    again: count(object['again']),
    more: count(object['more']),
  };
}

function fileSight(value: unknown, readers: readonly string[]): FileSight {
  const { path, inode, pos, size, at, born, unfinished, lines, record, readable, reader, print, followed } =
    fields(value);
  // Made after in_tail let go of it: another file has its inode.
  const isOther = count(born) > (maybe(number)(at) ?? Number.POSITIVE_INFINITY);
  return {
    path: words(path),
    inode: String(number(inode)),
    key: keyOf(value, readers),
    position: number(pos),
    size: isOther ? number(pos) : maybe(number)(size),
    unfinished: count(unfinished),
    lines: count(lines),
    record: count(record),
    isUnreadable: readable === false,
    reader: readers[count(reader)] ?? '',
    print: maybe(number)(print),
    wasFollowed: followed === true,
  };
}

function keyOf(value: unknown, readers: readonly string[]): string {
  const { inode, reader } = fields(value);
  return `${maybe(number)(inode)} ${readers[count(reader)] ?? ''}`;
}

/** `pod`: when the Pod began, as `born` in milliseconds since 1970. */
function start(value: unknown, readers: readonly string[], pod: number): Start {
  const { path, pos, print, born } = fields(value);
  const isOld = maybe(number)(born) === undefined || number(born) < pod;
  return {
    path: words(path),
    key: keyOf(value, readers),
    position: number(pos),
    print: maybe(number)(print),
    isOld,
  };
}

const unfound: Reader<Unfound> = (value) => {
  const { path, size } = fields(value);
  return { path: words(path), size: maybe(number)(size) };
};

const pluginSight: Reader<PluginSight> = (value) => {
  const { class: name, settings } = fields(value);
  const given = Object.entries(settings === undefined ? {} : fields(settings)).filter(
    (pair): pair is [string, Setting] => ['boolean', 'number', 'string'].includes(typeof pair[1]),
  );
  return { class: words(name), settings: Object.fromEntries(given.slice(0, 50)) };
};

const outputSight: Reader<OutputSight> = (value) => {
  const { id, retry, stage, queue, dequeued, bytes, chunks } = fields(value);
  const isBuffered = stage !== undefined;
  return {
    ...pluginSight(value),
    id: words(id),
    isBuffered,
    isRetrying: retry === true,
    chunks: count(stage) + count(queue) + count(dequeued),
    bytes: count(bytes),
    ids: isBuffered ? maybe(listOf(words, MOST))(chunks) : [],
  };
};

/** Chunks that a later buffer of the worker took over are no longer named. */
function withChunksOfIds(output: OutputSight): OutputSight {
  const { ids } = output;
  return ids === undefined || ids.length >= output.chunks
    ? output
    : { ...output, chunks: ids.length, bytes: ids.length === 0 ? 0 : output.bytes };
}

const heard: Reader<Heard> = (value) => {
  const { level, file, text, error, tag, during, n } = fields(value);
  return {
    level: words(level ?? ''),
    file: words(file ?? ''),
    text: words(text ?? ''),
    error: maybe(words)(error) ?? null,
    tag: maybe(words)(tag) ?? null,
    during: during === 'flush' ? during : null,
    n: number(n),
  };
};

function fields(value: unknown): Fields {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new Unbelievable('an object is missing in it');
  return value as Fields;
}

function words(value: unknown): string {
  if (typeof value !== 'string') throw new Unbelievable('a text is missing in it');
  return value.slice(0, LONGEST_TEXT);
}

function number(value: unknown): number {
  if (typeof value !== 'number' || !Number.isFinite(value))
    throw new Unbelievable('a number is missing in it');
  return value;
}

/** What is not there is 0. A buffer's own count may fall below 0 (fluentd#5303). */
function count(value: unknown): number {
  return value === undefined ? 0 : Math.max(0, number(value));
}

function maybe<Value>(read: Reader<Value>): Reader<Value | undefined> {
  return (value) => (value === undefined || value === null ? undefined : read(value));
}

function listOf<One>(read: Reader<One>, most: number): Reader<readonly One[]> {
  return (value) => {
    if (!Array.isArray(value)) throw new Unbelievable('a list is missing in it');
    if (value.length > most) throw new Unbelievable(`a list in it has more than ${most} items`);
    return value.map(read);
  };
}

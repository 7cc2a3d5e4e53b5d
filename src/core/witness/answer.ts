/** The protocol: one word to the socket (`look`, `flush`, `stop`, `end`), one line of JSON back. */
import { BoundedAnswer, type Bounds, type NotBelieved, parseBounded } from './bounded-answer.ts';

const MOST_FILES = 20_000;

export type FileSight = Readonly<ReturnType<typeof fileSight>>;
export type Heard = Readonly<ReturnType<typeof heard>>;
export type PluginSettings = Readonly<ReturnType<typeof pluginSight>>;
export type OutputSight = Readonly<ReturnType<typeof outputSight>>;
/** What one worker's witness said: an answer, or its last word. */
export type Said = Readonly<ReturnType<typeof saidIn>>;

/** The answer to `look`. Before Fluentd is ready a list may be missing. */
export function parseAnswer(text: string, bounds?: Bounds): Said | NotBelieved {
  return parseBounded(text, (fields) => saidIn(new BoundedAnswer(fields, fields['ready'] === true)), bounds);
}

/** What a worker's witness wrote as it ended. A list that is not there is empty. */
export function parseLastWord(text: string, bounds?: Bounds): Said | NotBelieved {
  return parseBounded(text, (fields) => saidIn(new BoundedAnswer(fields, false)), bounds);
}

/** The answer to an order: undefined where it was done. */
export function parseDone(text: string): string | undefined {
  const done = parseBounded(text, (fields) => ({ isDone: 'done' in fields }));
  if ('notBelieved' in done) return done.notBelieved;
  return done.isDone ? undefined : 'it was not done';
}

function saidIn(answer: BoundedAnswer) {
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
function fileSight(file: BoundedAnswer) {
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

function keyOf(file: BoundedAnswer): string {
  return `${file.maybeNumber('inode')} ${file.maybeText('reader') ?? ''}`;
}

/** The settings of one plugin of the running Fluentd: booleans, numbers and symbols only. */
function pluginSight(plugin: BoundedAnswer) {
  return { class: plugin.text('class'), settings: plugin.settings('settings') };
}

function outputSight(output: BoundedAnswer) {
  const buffer: 'none' | 'there' | 'reloaded' = !output.has('n')
    ? 'none'
    : output.is('reloaded', true)
      ? 'reloaded'
      : 'there';
  return {
    ...pluginSight(output),
    id: output.text('id'),
    /** `reloaded`: it ended by a reload, and the worker lived on. */
    buffer,
    isRetrying: output.is('retry', true),
    /** Staged, queued and taken out to be written. */
    chunks: output.count('n'),
    bytes: output.count('bytes'),
    /** undefined: too many to name. */
    ids: buffer === 'none' ? [] : output.has('chunks') ? output.texts('chunks') : undefined,
  };
}

function heard(said: BoundedAnswer) {
  return {
    level: said.maybeText('level') ?? '',
    /** The source file that logged it, from its gem's `lib/` on: `fluent/plugin/out_http.rb`. */
    file: said.maybeText('file') ?? '',
    /** Its first text, normalized (see message-row.ts). Empty: the message was a block, a Hash or a Struct. */
    text: said.maybeText('text') ?? '',
    error: said.maybeText('error') ?? null,
    tag: said.maybeText('tag') ?? null,
    /** `flush`: logged in an attempt to flush a chunk that then failed, so the chunk is still in the buffer. */
    during: said.is('during', 'flush') ? 'flush' : null,
    n: said.number('n'),
  };
}

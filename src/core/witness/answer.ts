/** The protocol: posidle sends one word (`look`, `flush`, `stop`), and the witness answers one line of JSON. */
import type { Millis } from '../text/units.ts';
import { BoundedAnswer, type Bounds, type NotBelieved, parseBounded } from './bounded-answer.ts';

/** 20,000 followed files, all closed as the worker ends, and what was closed before. */
const MOST_FILES = 25_000;

export type FileSight = Readonly<ReturnType<typeof fileSight>>;
export type Heard = Readonly<ReturnType<typeof heard>>;
export type PluginSettings = Readonly<ReturnType<typeof pluginSight>>;
export type OutputSight = Readonly<ReturnType<typeof outputSight>>;
/** One worker's answer or last word. */
export type Said = Readonly<ReturnType<typeof saidIn>>;

/** Parses the answer to `look`. Lists may be missing until Fluentd is ready. */
export function parseAnswer(text: string, bounds?: Bounds): Said | NotBelieved {
  return parseBounded(text, (fields) => saidIn(new BoundedAnswer(fields, fields['ready'] === true)), bounds);
}

/** Parses what a witness wrote as its worker ended. A missing list is empty. */
export function parseLastWord(text: string, bounds?: Bounds): Said | NotBelieved {
  return parseBounded(text, (fields) => saidIn(new BoundedAnswer(fields, false)), bounds);
}

/** Why an order was not done; undefined if it was. */
export function parseDone(text: string): string | undefined {
  const done = parseBounded(text, (fields) => ({ isDone: 'done' in fields }));
  if ('notBelieved' in done) return done.notBelieved;
  return done.isDone ? undefined : 'it was not done';
}

function saidIn(answer: BoundedAnswer) {
  return {
    pid: answer.number('pid'),
    supervisor: answer.maybeNumber('supervisor'),
    /** PID 1 of its container does not act on SIGTERM. */
    ignoresSigterm: answer.is('sigterm', false),
    isReady: answer.is('ready', true),
    /** Only in a last word: the worker ended without an error. */
    isFinal: answer.is('final', true),
    error: answer.maybeText('error'),
    /** The longest time between two looks of the witness, in milliseconds. */
    gap: answer.count('gap') * 1_000,
    /** The names of the in_tail inputs. */
    readers: answer.texts('readers'),
    files: answer.list('files', fileSight, MOST_FILES),
    closed: answer.list('closed', fileSight, MOST_FILES),
    /** Truncated files. `had`: the size at most a second before. */
    cuts: answer.list('cuts', (cut) => ({ ...fileSight(cut), had: cut.number('had') })),
    /** Files that in_tail did not read from the first byte, and where it began. */
    starts: answer.list('starts', (start) => ({
      path: start.text('path'),
      key: keyOf(start),
      position: start.number('pos'),
      size: start.maybeNumber('size'),
      /** A fingerprint of the bytes before the position. */
      print: start.maybeNumber('print'),
      /** The file is older than the Pod. */
      isOld: (start.maybeNumber('born') ?? Number.NEGATIVE_INFINITY) < answer.count('pod'),
    })),
    lost: answer.list('lost', (file) => ({ path: file.text('path'), why: file.text('why') })),
    /** Files that match a path and that no input follows. */
    unfound: answer.list('unfound', (file) => ({
      path: file.text('path'),
      size: file.maybeNumber('size'),
      key: keyOf(file),
      isUnreadable: file.is('readable', false),
      /** Since when, in milliseconds since 1970. */
      at: file.count('at'),
    })),
    /** Directories that Fluentd may not list or enter. */
    denied: answer.texts('denied'),
    /** Files that look like a rotated form of a followed file, and that this worker has not read. */
    siblings: answer.list('siblings', (file) => ({
      path: file.text('path'),
      size: file.maybeNumber('size'),
      inode: String(file.maybeNumber('inode')),
      /** The uncompressed size of a compressed file. */
      plain: file.maybeNumber('plain'),
      /** The times of the cuts that may have made this copy, judged by its name and, if uncompressed, by its bytes. */
      cuts: file.texts('cuts'),
      /** The time of the last write, in milliseconds since 1970. */
      at: file.count('at'),
    })),
    /** Records outside of buffers. */
    kept: answer.list('held', (held) => ({
      plugin: held.text('class'),
      records: held.number('n'),
      emitsAfter: intervalIn(held),
    })),
    outputs: answer.list('outputs', outputSight),
    /** The settings of the in_tail inputs and the filters. */
    plugins: answer.list('plugins', pluginSight),
    heard: answer.list('heard', heard),
    /** Outputs, as they were when their buffer closed. */
    ends: answer.list('ends', outputSight),
    /** Ids of the chunks that a buffer found on disk when it started. */
    resumed: answer.texts('resumed'),
    /** How often a flush emitted its lines again, so that a new chunk holds them. */
    again: answer.count('again'),
    /** How many facts the witness had to forget. */
    more: answer.count('more'),
  };
}

/** One input's knowledge of one file. Positions and sizes are bytes. */
function fileSight(file: BoundedAnswer) {
  // A file that is younger than the closed one has reused its inode.
  const isOther = file.count('born') > (file.maybeNumber('at') ?? Number.POSITIVE_INFINITY);
  return {
    path: file.text('path'),
    inode: String(file.number('inode')),
    /** Identifies the file and the input that reads it. The same input has the same name in the next worker. */
    key: keyOf(file),
    /** When the witness saw this, in milliseconds since 1970. */
    at: file.count('at'),
    position: file.number('pos'),
    /** undefined if the file is gone. */
    size: isOther ? file.number('pos') : file.maybeNumber('size'),
    /** `unfinished`: bytes of a last line without newline. `lines`: read, but not emitted. `record`: bytes of a waiting multiline record. */
    unfinished: file.count('unfinished'),
    lines: file.count('lines'),
    record: file.count('record'),
    emitsAfter: intervalIn(file),
    /** Fluentd has no permission to read it. */
    isUnreadable: file.is('readable', false),
    /** The name of the input that reads it. */
    reader: file.maybeText('reader') ?? '',
    /** A fingerprint of the bytes before the position, taken when in_tail closed the file or shortly before a cut; undefined if unreadable. */
    print: file.maybeNumber('print'),
    /** in_tail followed the file at its path until the worker ended. */
    wasFollowed: file.is('followed', true),
  };
}

/** After how many milliseconds a plugin emits what it keeps; undefined: only when it stops. */
function intervalIn(of: BoundedAnswer): Millis | undefined {
  const seconds = of.maybeNumber('emits') ?? 0;
  return seconds > 0 ? seconds * 1_000 : undefined;
}

function keyOf(file: BoundedAnswer): string {
  return `${file.maybeNumber('inode')} ${file.maybeText('reader') ?? ''}`;
}

/** The settings of one running plugin: booleans, numbers and symbols only. */
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
    /** `reloaded`: a reload ended the buffer, but not the worker. */
    buffer,
    isRetrying: output.is('retry', true),
    /** Staged, queued and being written. */
    chunks: output.count('n'),
    bytes: output.count('bytes'),
    /** undefined if there are too many. */
    ids: buffer === 'none' ? [] : output.has('chunks') ? output.texts('chunks') : undefined,
  };
}

function heard(said: BoundedAnswer) {
  return {
    level: said.maybeText('level') ?? '',
    /** The source file that logged the message, without its gem's path: `fluent/plugin/out_http.rb`. */
    file: said.maybeText('file') ?? '',
    /** The normalized message (see message-row.ts). Empty for a block, a Hash or a Struct. */
    text: said.maybeText('text') ?? '',
    error: said.maybeText('error') ?? null,
    tag: said.maybeText('tag') ?? null,
    /** `flush`: logged during a failed flush, so the chunk is still in the buffer. */
    during: said.is('during', 'flush') ? 'flush' : null,
    n: said.number('n'),
  };
}

/** The protocol: posidle sends one word (a `Question` or a `WitnessOrder`), and the witness answers one line of JSON. */
import type { Millis } from '../text/units.ts';
import { count, type Fields, list, maybe, number, object, string, Unbelievable } from './fields.ts';

const VERSION = 1;
/** JSON.parse would round an inode number above 2^53. */
const LARGE_INODE = /"inode":(\d{16,})/g;

export type FileReport = Readonly<ReturnType<typeof fileReport>>;
export type Message = Readonly<ReturnType<typeof messageReport>>;
export type PluginSettings = Readonly<ReturnType<typeof pluginReport>>;
export type OutputReport = Readonly<ReturnType<typeof outputReport>>;
export type Report = Readonly<ReturnType<typeof reportIn>>;

/** One worker's answer (`alive`) or last report (`gone`). */
export interface WorkerReport {
  readonly worker: string;
  readonly kind: 'alive' | 'gone';
  readonly report: Report;
  /** When posidle last saw it alive, if it is gone. */
  readonly aliveAt?: Millis | undefined;
}

/** Parses an answer to a question, or a last report. */
export function parseReport(text: string) {
  return parse(text, reportIn);
}

/** Whether an order was done. */
export function isDone(text: string): boolean {
  return 'done' in parse(text, (fields) => fields);
}

/** Refuses another version, and ignores unknown fields. */
function parse<Value extends object>(text: string, read: (fields: Fields) => Value) {
  try {
    const fields = object(JSON.parse(text.replaceAll(LARGE_INODE, '"inode":"$1"')));
    const { v, error } = fields;
    if (number(v) !== VERSION) throw new Unbelievable(`its version is ${v}, not ${VERSION}`);
    if (typeof error === 'string' && !('pid' in fields)) throw new Unbelievable(string(error));
    return read(fields);
  } catch (error) {
    if (error instanceof Unbelievable) return { notBelieved: error.message };
    if (error instanceof SyntaxError) return { notBelieved: 'it is no JSON' };
    throw error;
  }
}

function reportIn(f: Fields) {
  // Lists may be missing until Fluentd is ready, and in a last report.
  const none = f.ready === true && f.final === undefined ? undefined : [];
  const each = <One>(name: string, read: (item: Fields) => One) =>
    list(f[name] ?? none, (item) => read(object(item)));
  const texts = (name: string) => list(f[name] ?? none, string);
  return {
    pid: number(f.pid),
    /** PID 1 of its container does not act on SIGTERM. */
    ignoresSigterm: f.sigterm === false,
    isReady: f.ready === true,
    /** Only in a last report: the worker ended without an error. */
    isFinal: f.final === true,
    error: maybe(f.error, string),
    /** The longest time between two looks of the witness, in milliseconds. */
    gap: count(f.gap) * 1_000,
    /** The names of the in_tail inputs. */
    readers: texts('readers'),
    files: each('files', fileReport),
    closed: each('closed', fileReport),
    /** Truncated files. `sizeBefore`: the size at most a second before. */
    cuts: each('cuts', (cut) => ({ ...fileReport(cut), sizeBefore: number(cut.had) })),
    /** Files that in_tail did not read from the first byte, and where it began. */
    starts: each('starts', (file) => ({
      ...fileFacts(file),
      position: number(file.pos),
      /** The file is older than the Pod. So is its last write, if in_tail had no position and began at the end. */
      isOld: Math.max(count(file.born), count(file.written)) < count(f.pod),
    })),
    lost: each('lost', (file) => ({
      ...fileFacts(file),
      why: string(file.why),
      /** Unread when the witness last saw it; 0 if unknown. */
      bytes: Math.max(0, count(file.size) - count(file.pos)),
    })),
    /** Files that match a path and that no input follows. */
    unfound: each('unfound', fileFacts),
    /** Directories that Fluentd may not list or enter, and links that it cannot follow. */
    denied: texts('denied'),
    /** Files that look like a rotated form of a followed file, and that this worker has not read. */
    siblings: each('siblings', (file) => ({
      ...fileFacts(file),
      /** The uncompressed size of a compressed file. */
      plain: maybe(file.plain, number),
      /** The numbers in `cuts` of those that may have made this copy, judged by its name and its bytes. */
      cuts: list(file.cuts, number),
    })),
    /** The files or directories of chunks that Fluentd gave up. */
    aside: texts('aside'),
    /** Records outside of buffers. */
    kept: each('kept', ({ class: plugin, n, emits }) => ({
      where: string(plugin),
      records: number(n),
      emitsAfter: interval(emits),
    })),
    outputs: each('outputs', outputReport),
    /** The settings of the in_tail inputs, the filters, and the outputs that have no buffer by their kind. */
    plugins: each('plugins', pluginReport),
    messages: each('messages', messageReport),
    /** Outputs, as they were when their buffer closed. */
    ends: each('ends', outputReport),
    /** Ids of the chunks that a buffer found on disk when it started. */
    resumed: texts('resumed'),
    /** How often a flush emitted its lines again, so that a new chunk holds them. */
    repeatedEmits: count(f.again),
    /** How many facts the witness had to forget. */
    forgotten: count(f.more),
    /** How many threads have records that are in no buffer yet. Then no receipt balances. */
    movingThreads: count(f.moving),
    /** How many lines in_tail read. */
    lines: none === undefined ? number(f.lines) : maybe(f.lines, number),
    /** Records of which an output took none or a part, and which nobody emits again. */
    refused: count(f.refused),
    /** Records that no `<match>` takes, and no rule of rewrite_tag_filter. */
    unrouted: count(f.unrouted),
    /** Lines, or values of a parser filter, that became no record or an empty one. */
    unparsed: count(f.unparsed),
    /** The number of this worker, from 0 on, and how many Fluentd has. */
    worker: maybe(f.worker, number),
    workers: maybe(f.workers, number),
  };
}

/** What is told of any file. Sizes and positions are bytes. */
function fileFacts(file: Fields) {
  const [inode, reader] = [maybe(file.inode, inodeNumber) ?? '', maybe(file.reader, string) ?? ''];
  // Two volumes may have one inode number, and a new file may get that of a removed one. `born`: when it was made, if the system tells.
  const identity = [inode, ...[file.dev, file.born].flatMap((one) => maybe(one, number) ?? [])].join(' ');
  return {
    path: string(file.path),
    inode,
    identity,
    /** The name of the input that reads it. The same input has the same name in the next worker. */
    reader,
    /** Identifies the file and the input that reads it. */
    key: `${reader} ${identity}`,
    /** When the witness saw this, or since when (`unfound`), or when it was last written (`siblings`), in milliseconds since 1970. */
    at: count(file.at),
    /** undefined if the file is gone. */
    size: maybe(file.size, number),
    /** A fingerprint of the bytes before the position, when in_tail closed it or before a cut; of a file that was never followed, of all. */
    print: maybe(file.print, number),
    /** The same of the first 64 of them at most; of a compressed file, of what is in it. */
    head: maybe(file.head, number),
    /** Fluentd has no permission to read it. */
    isUnreadable: file.readable === false,
  };
}

/** One input's knowledge of one file. */
function fileReport(file: Fields) {
  return {
    ...fileFacts(file),
    inode: inodeNumber(file.inode),
    position: number(file.pos),
    /** `unfinished`: bytes of a last line without newline. `lines`: read, but not emitted. `record`: bytes of a waiting multiline record. */
    unfinished: count(file.unfinished),
    lines: count(file.lines),
    record: count(file.record),
    emitsAfter: interval(file.emits),
    /** in_tail followed the file at its path until the worker ended. */
    wasFollowed: file.followed === true,
  };
}

/** After how many milliseconds a plugin emits what it keeps; undefined: only when it stops. */
function interval(seconds: unknown): Millis | undefined {
  return count(seconds) * 1_000 || undefined;
}

function inodeNumber(value: unknown): string {
  return typeof value === 'string' ? string(value) : String(number(value));
}

/** The settings of one running plugin: booleans, numbers, symbols, and how it names what it writes. */
function pluginReport({ class: name, settings }: Fields) {
  return { class: string(name), settings: maybe(settings, object) ?? {} };
}

function outputReport(output: Fields) {
  const { id, type, n, reloaded, retry, bytes, chunks, receipt } = output;
  const buffer: 'none' | 'there' | 'reloaded' =
    maybe(n, number) === undefined ? 'none' : reloaded === true ? 'reloaded' : 'there';
  return {
    ...pluginReport(output),
    id: string(id),
    type: maybe(type, string),
    /** `reloaded`: a reload ended the buffer, but not the worker. */
    buffer,
    isRetrying: retry === true,
    /** Staged, queued and being written. */
    chunks: count(n),
    bytes: count(bytes),
    /** undefined if there are too many. */
    ids: buffer === 'none' ? [] : maybe(chunks, (ids) => list(ids, string)),
    receipt: receiptReport(maybe(receipt, object) ?? {}),
  };
}

/** Numbers of records; undefined if unknown. took + left = delivered + secondary + aside + dropped + held, if the output has a buffer. */
function receiptReport({ took, left, own, exhausted, overflown, unrecoverable, ...ways }: Fields) {
  return {
    took: maybe(took, number),
    /** Left over from an earlier worker. Below 0: the start of a file buffer missed so many of Fluentd's own events before it. */
    left: maybe(left, number),
    delivered: maybe(ways.delivered, number),
    /** Given to `<secondary>`. */
    secondary: maybe(ways.secondary, number),
    /** Kept as files that nobody sends. */
    aside: maybe(ways.aside, number),
    /** By the cause: retries used up; a full buffer; an error that no retry helps, without a backup. */
    drops: { exhausted: count(exhausted), overflown: count(overflown), unrecoverable: count(unrecoverable) },
    dropped: exhausted === undefined ? undefined : count(exhausted) + count(overflown) + count(unrecoverable),
    held: maybe(ways.held, number),
    /** So many of them are events of Fluentd's own log (`fluent.warn`). */
    own: maybe(own, number),
    /** Nothing else was ever offered to the output. */
    isOwn: ways.only_own === true && count(left) === 0,
  };
}

function messageReport({ level, file, text, error, n }: Fields) {
  return {
    level: maybe(level, string) ?? '',
    /** The source file that logged the message, without its gem's path: `fluent/plugin/out_http.rb`. */
    file: maybe(file, string) ?? '',
    /** The normalized message (see harmless-messages.ts). Empty for a block, a Hash or a Struct. */
    text: maybe(text, string) ?? '',
    error: maybe(error, string) ?? null,
    n: number(n),
  };
}

export function nameOf({ id, type, class: name }: OutputReport): string {
  return id.startsWith('object:') ? (type ?? name) : `${id} (${type ?? name})`;
}

/** With the number that Fluentd's own log shows, if it has told one. Its socket's name ends with its pid. */
export function nameOfWorker({ worker, report }: { worker: string; report?: Report | undefined }): string {
  const number = report?.worker === undefined ? '' : ` ${report.worker}`;
  return `worker${number} (${worker.replace(/^.*-(\d+)\.sock$/, 'pid $1')})`;
}

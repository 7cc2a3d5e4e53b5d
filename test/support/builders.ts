import { expect } from 'vitest';
import type { Outcome } from '../../src/core/drain/outcome.ts';
import type { Policy } from '../../src/core/drain/policy.ts';
import { DEFAULT_POLICY } from '../../src/core/drain/policy.ts';
import type { Draining, State, Trigger } from '../../src/core/drain/state.ts';
import { type FluentConf, fluentConf } from '../../src/core/fluent-conf/fluent-conf.ts';
import { parseConf } from '../../src/core/fluent-conf/syntax.ts';
import type { BuffersReading } from '../../src/core/fluentd/buffers.ts';
import { isFileOf } from '../../src/core/look/file-state.ts';
import type { Observation } from '../../src/core/look/observation.ts';
import { observe } from '../../src/core/look/observe.ts';
import type { FileLook, FileStat, PosFileReading, Snapshot } from '../../src/core/look/snapshot.ts';
import type { Subject } from '../../src/core/look/subject.ts';
import { encodePath } from '../../src/core/pos-file/path-bytes.ts';
import { entryKeyIn, latestIn, type PositionEntry, parsePosFile } from '../../src/core/pos-file/pos-file.ts';
import type { FluentdReading, ProcessRow } from '../../src/core/progress/fluentd-reading.ts';
import type { Millis } from '../../src/core/text/units.ts';
import { type Reporter, runLoop, type Task, type Transition } from '../../src/daemon/loop.ts';
import type { Done } from '../../src/daemon/perform.ts';
import type { Host } from '../../src/host.ts';

export const NO_BUFFERS: BuffersReading = { outputs: [], unseen: [], givenUp: [] };
export const POS = '/var/log/pos/app.pos';
export const LOG = '/var/log/app.log';

export function policy(changes: Partial<Policy> = {}): Policy {
  return { ...DEFAULT_POLICY, ...changes };
}

/** The text of a pos file as Fluentd writes it. */
export function posText(
  entries: readonly { path: string; position: number | null; inode: string | number }[],
): string {
  const lines = entries.map(({ path, position, inode }) => {
    const hex = position === null ? 'f'.repeat(16) : hex16(position);
    return `${path}\t${hex}\t${hex16(inode)}\n`;
  });
  return lines.join('');
}

function hex16(value: string | number): string {
  return BigInt(value).toString(16).padStart(16, '0');
}

export function parse(text: string | Uint8Array): ReturnType<typeof parsePosFile> {
  return parsePosFile(typeof text === 'string' ? encodePath(text) : text);
}

export function entry(changes: Partial<PositionEntry> = {}): PositionEntry {
  return { path: LOG, position: 100, inode: '7', ...changes };
}

/** A look at an entry's own file, of the given size; with bytes left they hold a newline. */
export function fileOf({ inode, position }: PositionEntry, size = position ?? 0): FileLook {
  return { atPath: { inode, size }, ...(size > (position ?? 0) && { newlineLeft: true }) };
}

/** What a look finds of an entry, with what stands at its path. */
export function lookOf(
  entry: PositionEntry,
  atPath: FileStat | undefined,
  newlineAfter: (position: number) => Pick<FileLook, 'newlineLeft'>,
): FileLook {
  if (atPath === undefined) return {};
  if (entry.position === null || !isFileOf(entry, atPath)) return { atPath };
  return { atPath, ...newlineAfter(entry.position) };
}

export function row(changes: Partial<ProcessRow> = {}): ProcessRow {
  return { pid: 4242, ppid: 1, session: 0, startTime: '1', zombie: false, argv: ['fluentd'], ...changes };
}

/** The command lines of Fluentd's processes. */
export const SUPERVISOR = ['/usr/bin/ruby', '/usr/bin/fluentd', '-c', '/etc/fluent.conf'];
export const WORKER = ['/usr/bin/ruby', '-Eascii-8bit:ascii-8bit', '/usr/bin/fluentd', '--under-supervisor'];

/** Chunks of these sizes in the buffer of the output `out`, on disk. */
export function onDisk(...sizes: readonly number[]): BuffersReading {
  const chunks = sizes.map((size, index) => ({ path: chunkPath(index), size }));
  return { ...NO_BUFFERS, outputs: [{ name: 'out', chunks }] };
}

/** As Fluentd names the nth chunk of the buffer in /buffer. */
export function chunkPath(index: number): string {
  return `/buffer/buffer.b${hex16(index).padStart(32, '0')}.log`;
}

export const IN_MEMORY: BuffersReading = { ...NO_BUFFERS, unseen: ['out (its buffer is in memory)'] };

type Running = Extract<FluentdReading, { kind: 'running' }>;

export function running(changes: Partial<Running> = {}): Running {
  const supervisor = { pid: 4242, startTime: '1' };
  const workers = [{ pid: 4243, startTime: '2' }];
  return { kind: 'running', supervisor, workers, proof: 'own', isStarting: false, ...changes };
}

export const REMOTE = { kind: 'remote' } as const;
export const WRAPPER = { kind: 'wrapper', leader: { pid: 9, startTime: '9' }, since: 0 } as const;
export const ABSENT: FluentdReading = { kind: 'absent', why: 'no fluentd runs' };

export type Watched = readonly [entry: PositionEntry, look?: FileLook];

/** One pos file with these entries; an entry without a look is read to its end. */
export function reading(files: readonly Watched[], writtenAgo: Millis = 0): PosFileReading {
  const all = files.map(([entry]) => entry);
  return { path: POS, kind: 'read', ...latestIn(POS, all), unparsable: [], writtenAgo };
}

function looksOf(files: readonly Watched[]): Snapshot['looks'] {
  return new Map(files.map(([entry, look]) => [entryKeyIn(POS, entry), look ?? fileOf(entry)]));
}

export function snapshot(at: Millis, files: readonly Watched[], changes: Partial<Snapshot> = {}): Snapshot {
  const posFiles = [reading(files)];
  const nothingElse = {
    depth: 'all' as const,
    followed: [],
    source: 'outside' as const,
    reports: undefined,
    buffers: NO_BUFFERS,
    fluentd: running(),
    mains: undefined,
    requests: [],
  };
  const reports = changes.reports && { ...changes.reports, at };
  return { lookedAt: at, at, posFiles, looks: looksOf(files), ...nothingElse, ...changes, reports };
}

/** The observation after these snapshots. */
export function seen(snapshots: readonly Snapshot[], rules: Policy = DEFAULT_POLICY): Observation {
  const last = snapshots.reduce<Observation | undefined>(
    (before, next) => observe(before, next, rules),
    undefined,
  );
  if (last === undefined) throw new Error('an observation needs a snapshot');
  return last;
}

/** One pos file, a fluentd that is searched for, and no configuration. */
export function subject(changes: Partial<Subject> = {}): Subject {
  const defaults = { conf: undefined, doneProcess: undefined, self: 77 } as const;
  return { posFiles: [POS], fluentd: { by: 'search' }, ...defaults, ...changes };
}

/** The facts of a fluent.conf that follows these files. Appends `more`. */
export function confOf(paths: readonly string[], more = ''): FluentConf {
  const source = `<source>\n@type tail\ntag app\npath ${paths.join(',')}\npos_file ${POS}\nread_from_head true\n</source>\n`;
  const parsed = parseConf(source + more, '/fluent.conf');
  return fluentConf(parsed, { env: {}, hostname: '' });
}

/** A drain that a call began at the start. */
export function draining(changes: Partial<Draining> = {}): Draining {
  const trigger: Trigger = { by: 'http', at: 0 };
  return { name: 'draining', since: 0, trigger, mainEndedAt: undefined, pending: undefined, ...changes };
}

/** Keeps what the loop tells. */
class Recorder implements Reporter {
  readonly transitions: Transition[] = [];
  readonly looks: { readonly state: State; readonly seen: Observation }[] = [];
  readonly done: Done[] = [];

  transition(transition: Transition): void {
    this.transitions.push(transition);
  }

  looked(state: State, seen: Observation): void {
    this.looks.push({ state, seen });
  }

  performed(done: Done): void {
    this.done.push(done);
  }

  /** `waiting watching …` up to where it is. */
  get path(): readonly string[] {
    return ['waiting', ...this.transitions.map(({ state }) => state.name)];
  }
}

export interface Run {
  readonly outcome: Outcome;
  readonly report: Recorder;
}

/** Runs the daemon in a world until its outcome stands. */
export async function run(
  host: Host,
  rules: Partial<Policy> = {},
  what: Partial<Subject> = {},
): Promise<Run> {
  const report = new Recorder();
  const task: Task = { subject: subject(what), policy: policy(rules), report };
  return { outcome: await runLoop(host, task), report };
}

/** How much later than it must come a signal may come. */
const LATE = 250;

/** Just these signals, flushes left aside (`SIGINT 4242 @60000`), each at its time and hardly later. */
export function expectStops(host: { readonly stops: readonly string[] }, expected: readonly string[]): void {
  const nameOf = (stop: string) => stop.slice(0, stop.indexOf(' @'));
  const timeOf = (stop = '') => Number(stop.slice(stop.indexOf('@') + 1));
  expect(host.stops.map(nameOf)).toEqual(expected.map(nameOf));
  for (const [index, stop] of host.stops.entries()) {
    const due = timeOf(expected[index]);
    expect(timeOf(stop), stop).toBeGreaterThanOrEqual(due);
    expect(timeOf(stop), stop).toBeLessThanOrEqual(due + LATE);
  }
}

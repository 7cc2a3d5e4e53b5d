import type { Endpoint } from '../core/fluent-conf/fluent-conf.ts';
import {
  type FluentdReading,
  type FluentdTarget,
  findByPattern,
  findByWorkers,
  findInSession,
  findSupervisors,
  findWorkers,
  identityOf,
  isFluentd,
  isSame,
  type ProcessIdentity,
  type ProcessRow,
  runsAlone,
} from '../core/fluentd/processes.ts';
import type { Subject } from '../core/look/subject.ts';
import type { Host } from '../host.ts';

/** What says where Fluentd may be found. */
export type Whereabouts = Pick<Subject, 'fluentd' | 'conf' | 'stopVia'>;

/** Where fluentd is now: the one that is known for as long as it runs, else whichever is found. */
export async function findFluentd(
  host: Host,
  subject: Whereabouts,
  known: FluentdReading | undefined,
): Promise<FluentdReading> {
  const table = await host.listProcesses();
  const same = known && stillRunning(table, known);
  if (same !== undefined) return same;
  const { fluentd } = subject;
  if (fluentd.by === 'session') return findBelow(host, table, { ...fluentd, known, rpc: rpcOf(subject) });
  const last = lastOf(known);
  const wanted = await resolve(host, fluentd);
  const rows = (all: readonly ProcessRow[]) =>
    wanted.rows(all).filter((row) => mayReplace(row, last, fluentd));
  const found = searchTable(host, table, { wanted: { ...wanted, rows }, rpc: rpcOf(subject) });
  if (found.kind !== 'absent') return found;
  const gone = last === undefined ? found : { ...found, last };
  return (known && orphansOf(host, table, known)) ?? (await remote(host, subject)) ?? gone;
}

interface Child {
  readonly leader: number;
  readonly known: FluentdReading | undefined;
  readonly rpc: Endpoint | undefined;
}

/** Orphaned workers go to the next init above them, which is not their supervisor: they come before what has workers. */
function findBelow(host: Host, table: readonly ProcessRow[], { leader, known, rpc }: Child): FluentdReading {
  const named = findInSession(table, leader);
  if (named !== undefined) return runningBy(host, table, { row: named, rpc });
  const orphans = known && orphansOf(host, table, known);
  if (orphans !== undefined) return orphans;
  const renamed = findByWorkers(table, leader);
  if (renamed !== undefined) return runningBy(host, table, { row: renamed, rpc });
  const row = table.find(({ pid, zombie }) => pid === leader && !zombie);
  if (row === undefined) return { kind: 'absent', why: 'fluentd has ended' };
  const since = known?.kind === 'wrapper' ? known.since : host.now();
  return {
    kind: 'wrapper',
    leader: identityOf(row),
    since,
    permitted: rpc !== undefined || host.maySignal(leader),
  };
}

/** The supervisor that was there before. */
function lastOf(known: FluentdReading | undefined): ProcessIdentity | undefined {
  if (known?.kind === 'running') return known.supervisor;
  return known?.kind === 'absent' ? known.last : undefined;
}

/** A pid may be another process's by now, and a pattern may fit what is no fluentd: neither follows a fluentd that was seen. */
function mayReplace(row: ProcessRow, last: ProcessIdentity | undefined, { by }: FluentdTarget): boolean {
  if (last === undefined) return true;
  if (by === 'pid') return isSame(row, last);
  return by !== 'pattern' || isSame(row, last) || isFluentd(row.argv);
}

/** What is left of the very fluentd that was told to stop: another one that starts meanwhile is not meant. */
export async function followFluentd(
  host: Host,
  subject: Whereabouts,
  known: FluentdReading,
): Promise<FluentdReading> {
  const gone: FluentdReading = { kind: 'absent', why: 'Fluentd is gone' };
  if (known.kind === 'remote') return (await remote(host, subject)) ?? gone;
  const table = await host.listProcesses();
  if (known.kind === 'wrapper') return isAlive(table, known.leader) ? known : gone;
  return stillRunning(table, known) ?? orphansOf(host, table, known) ?? gone;
}

/** The same supervisor, with the workers that it has now. */
function stillRunning(table: readonly ProcessRow[], known: FluentdReading): FluentdReading | undefined {
  if (known.kind !== 'running') return undefined;
  const { supervisor } = known;
  if (!isAlive(table, supervisor)) return undefined;
  return { ...known, workers: findWorkers(table, supervisor.pid).map(identityOf) };
}

function isAlive(table: readonly ProcessRow[], identity: ProcessIdentity): boolean {
  return table.some((row) => isSame(row, identity) && !row.zombie);
}

/** The RPC that may be used: the supervisor itself answers there. */
function rpcOf({ conf, stopVia }: Whereabouts): Endpoint | undefined {
  return stopVia === 'signal' ? undefined : conf?.rpc;
}

async function remote(host: Host, subject: Whereabouts): Promise<FluentdReading | undefined> {
  const rpc = subject.fluentd.by === 'search' ? rpcOf(subject) : undefined;
  return rpc !== undefined && (await host.isListening(rpc)) ? { kind: 'remote', permitted: true } : undefined;
}

type Wanted = {
  readonly why: string;
  readonly rows: (table: readonly ProcessRow[]) => readonly ProcessRow[];
};

async function resolve(host: Host, target: Exclude<FluentdTarget, { by: 'session' }>): Promise<Wanted> {
  switch (target.by) {
    case 'search':
      return { why: 'no fluentd runs', rows: findSupervisors };
    case 'pid':
      return { why: `no process has the pid ${target.pid}`, rows: byPid(target.pid) };
    case 'pattern': {
      const why = `no process matches ${target.pattern}`;
      return { why, rows: (table) => findByPattern(table, target.pattern, host.self) };
    }
    case 'pid-file':
      return resolvePidFile(host, target.path);
  }
}

async function resolvePidFile(host: Host, path: string): Promise<Wanted> {
  const content = await host.readFile(path).catch((error: Error) => error);
  if (content instanceof Error)
    return { why: `the pid file ${path} cannot be read: ${content.message}`, rows: () => [] };
  const pid =
    content === undefined ? Number.NaN : Number.parseInt(new TextDecoder().decode(content.bytes), 10);
  if (Number.isNaN(pid)) return { why: `the pid file ${path} holds no pid`, rows: () => [] };
  // Fluentd leaves its pid file behind when it fails: the pid may be another process's by now.
  return {
    why: `the pid file ${path} names pid ${pid}, which is no fluentd`,
    rows: (table) => byPid(pid)(table).filter(({ argv }) => isFluentd(argv)),
  };
}

function byPid(pid: number): Wanted['rows'] {
  return (table) => table.filter((row) => row.pid === pid && !row.zombie);
}

interface Search {
  readonly wanted: Wanted;
  readonly rpc: Endpoint | undefined;
}

function searchTable(host: Host, table: readonly ProcessRow[], { wanted, rpc }: Search): FluentdReading {
  const rows = wanted.rows(table);
  const [row] = rows;
  if (row === undefined) return { kind: 'absent', why: wanted.why };
  if (rows.length > 1) return { kind: 'ambiguous', candidates: rows };
  return runningBy(host, table, { row, rpc });
}

interface Running {
  readonly row: ProcessRow;
  readonly rpc: Endpoint | undefined;
}

function runningBy(host: Host, table: readonly ProcessRow[], { row, rpc }: Running): FluentdReading {
  return {
    kind: 'running',
    supervisor: identityOf(row),
    workers: findWorkers(table, row.pid).map(identityOf),
    alone: runsAlone(row.argv),
    permitted: rpc !== undefined || host.maySignal(row.pid),
  };
}

/** Workers that outlived their supervisor. */
function orphansOf(
  host: Host,
  table: readonly ProcessRow[],
  known: FluentdReading,
): FluentdReading | undefined {
  if (known.kind !== 'running' && known.kind !== 'orphaned') return undefined;
  const workers = known.workers.filter((worker) => isAlive(table, worker));
  const [first] = workers;
  if (first === undefined) return undefined;
  return { kind: 'orphaned', workers, permitted: host.maySignal(first.pid) };
}

import type { Millis } from '../text/units.ts';

export interface ProcessRow {
  readonly pid: number;
  readonly ppid: number;
  /** The session that it belongs to; 0 where the system does not tell. */
  readonly session: number;
  /** When it was started, in whatever the system counts in: with the pid it is the identity. */
  readonly startTime: string;
  /** Ended, and not yet reaped by its parent. */
  readonly zombie: boolean;
  readonly argv: readonly string[];
}

/** Pid and start time: a pid alone may belong to another process by now. */
export interface ProcessIdentity {
  readonly pid: number;
  readonly startTime: string;
}

/** Which fluentd is meant: the one that is found by itself, or the one that the user named. */
export type FluentdTarget =
  | { readonly by: 'search' }
  | { readonly by: 'pid'; readonly pid: number }
  | { readonly by: 'pid-file'; readonly path: string }
  /** What runs in the session that this child leads, or below the child: behind wrappers, and after restarts. */
  | { readonly by: 'session'; readonly leader: ProcessIdentity };

type Table = readonly ProcessRow[];

export type FluentdReading =
  | {
      readonly kind: 'absent';
      readonly why: string;
      readonly last?: ProcessIdentity;
    }
  | {
      readonly kind: 'running';
      readonly supervisor: ProcessIdentity;
      readonly workers: readonly ProcessIdentity[];
      /** Since 1.18, SIGUSR2 starts another supervisor, which takes over while this one still runs. */
      readonly successor?: ProcessIdentity;
      /** This process may signal it. */
      readonly permitted: boolean;
      /**
       * What shows that it is the Fluentd that is meant. `own`: it is posidle's child, or holds a pos file open. `hearsay`: only that
       * a witness listens, and anybody may listen: it gets orders through the witness, and no signal.
       */
      readonly proof: 'own' | 'hearsay' | 'none';
      /** Its worker has not opened its pos file yet, and SIGUSR1 would end it; undefined: its open files may not be looked at. */
      readonly isStarting?: boolean | undefined;
    }
  /** The supervisor died alone; its workers go on (there is no heartbeat). */
  | { readonly kind: 'orphaned'; readonly workers: readonly ProcessIdentity[]; readonly permitted: boolean }
  /** A parent's child, and no Fluentd to be told below it: a wrapper on its way to one, or a Fluentd under another name. */
  | {
      readonly kind: 'wrapper';
      readonly leader: ProcessIdentity;
      /** The first of the looks that found it so. */
      readonly since: Millis;
      readonly permitted: boolean;
    }
  /** No process to be seen, but its witness answers: it runs in another container. */
  | {
      readonly kind: 'remote';
      readonly permitted: true;
      /** It can be asked for nothing, not even for a flush. */
      readonly isDeaf?: true;
    }
  | { readonly kind: 'ambiguous'; readonly candidates: Table }
  /** The process that the user named is no Fluentd: SIGUSR1 would end it. */
  | { readonly kind: 'foreign'; readonly row: ProcessRow };

export type Running = Extract<FluentdReading, { kind: 'running' }>;

const PROGRAM = /^(fluentd|td-agent)$/;
const RUBY = /^j?ruby[\d.]*$/;
const RUBY_OPTIONS_WITH_VALUE = new Set(['-I', '-r', '-C', '-E']);
/** These print something and end: there is nothing to stop. */
const ONE_SHOT = new Set(['--dry-run', '--version', '--help', '-h', '--setup', '-s', '--show-plugin-config']);

/** The supervisors (or lone processes) that run a Fluentd; more than one where several independent ones run. */
export function findSupervisors(table: Table): Table {
  const rows = table.filter(isSupervisor);
  const pids = new Set(rows.map(({ pid }) => pid));
  // Between fork and exec a worker still has its supervisor's command line.
  return rows.filter(({ ppid }) => !pids.has(ppid));
}

/** Rows that could be the Pod's main process: the pattern fits, and they are neither Fluentd's nor posidle's own family. */
export function findMains(table: Table, pattern: RegExp, self: number): Table {
  const own = ancestorsOf(self, table);
  // `search` looks from the start each time, whatever flags the pattern has.
  const fits = ({ argv }: ProcessRow) => argv.join(' ').search(pattern) !== -1;
  return table.filter((row) => !row.zombie && !own.has(row.pid) && !isFluentd(row.argv) && fits(row));
}

/** The Fluentd that runs in a session, or else in another one below its leader: `su` and `setsid` begin one. */
export function findInSession(table: Table, leader: ProcessIdentity): ProcessRow | undefined {
  const family = findFamily(table, leader);
  const members = family.filter((row) => row.session === leader.pid);
  return newestOf(findSupervisors(members)) ?? newestOf(findSupervisors(family));
}

/** What has workers below it is their supervisor, whatever its name. */
export function findByWorkers(table: Table, leader: ProcessIdentity): ProcessRow | undefined {
  const isSupervisor = ({ pid, zombie }: ProcessRow) => !zombie && findWorkers(table, pid).length > 0;
  return newestOf(findFamily(table, leader).filter(isSupervisor));
}

/**
 * The members of a session, its leader's descendants in other ones, and theirs. Linux gives the leader's pid to another process
 * only when the session has no member left.
 */
export function findFamily(table: Table, leader: ProcessIdentity): Table {
  if (table.some((row) => row.pid === leader.pid && !isSame(row, leader))) return [];
  const family = new Set(table.filter((row) => row.pid === leader.pid || row.session === leader.pid));
  // A Set's iteration also takes what is added to it on the way.
  for (const { pid } of family) for (const row of table) if (row.ppid === pid) family.add(row);
  return [...family];
}

/** After SIGUSR2 (1.18 and later) the old supervisor and the new one run side by side for a while. */
function newestOf(rows: Table): ProcessRow | undefined {
  return rows.toSorted((a, b) => Number(a.startTime) - Number(b.startTime)).at(-1);
}

/**
 * The supervisor that another one has started to take its place: SIGUSR2 since 1.18. `before` is the one that was known:
 * while a table is read the old supervisor may end, and its successor has another parent then. Until its exec a worker has the
 * supervisor's command line, and looks like a successor: one that was known has to look so still.
 */
export function findSuccessor(
  table: Table,
  supervisor: number,
  before?: ProcessIdentity,
): ProcessRow | undefined {
  const others = table.filter(isSupervisor);
  return (
    others.find(({ ppid }) => ppid === supervisor) ?? others.find((row) => before && isSame(row, before))
  );
}

function isSupervisor({ argv, zombie }: ProcessRow): boolean {
  return !zombie && isFluentd(argv) && !isWorker(argv);
}

export function findWorkers(table: Table, supervisor: number): Table {
  return table.filter((row) => row.ppid === supervisor && !row.zombie && isWorker(row.argv));
}

/** Whether a command line is that of a Fluentd, supervisor or worker; not of a shell, an init or an editor that names one. */
export function isFluentd(argv: readonly string[]): boolean {
  // <system> process_name sets the titles `supervisor:NAME` and `worker:NAME` (supervisor.rb, setproctitle).
  if (/^(supervisor|worker):/.test(argv[0] ?? '')) return true;
  const program = programOf(argv);
  if (program === undefined || !PROGRAM.test(basename(argv[program] ?? ''))) return false;
  return !argv.slice(program + 1).some((arg) => ONE_SHOT.has(arg));
}

/** Whether a Fluentd's command line is a worker's: it never ends by SIGINT, and is started again after SIGTERM. */
export function isWorker(argv: readonly string[]): boolean {
  return argv.includes('--under-supervisor') || /^worker:/.test(argv[0] ?? '');
}

export function lastOf(known: FluentdReading | undefined): ProcessIdentity | undefined {
  if (known?.kind === 'running') return known.supervisor;
  return known?.kind === 'absent' ? known.last : undefined;
}

/** The same supervisor, with the workers that it has now. */
export function stillRunning(table: Table, known: FluentdReading): Running | undefined {
  if (known.kind !== 'running' || !isAlive(table, known.supervisor)) return undefined;
  const { successor: before, ...rest } = known;
  const { pid } = known.supervisor;
  const successor = findSuccessor(table, pid, before);
  const workers = findWorkers(table, pid).map(identityOf);
  return { ...rest, workers, ...(successor && { successor: identityOf(successor) }) };
}

export function haveSameProcesses(now: Running, before: Running): boolean {
  return (
    now.workers.length === before.workers.length &&
    now.workers.every((worker) => before.workers.some((known) => isSame(worker, known))) &&
    now.successor?.pid === before.successor?.pid
  );
}

export function isAlive(table: Table, identity: ProcessIdentity): boolean {
  return table.some((row) => isSame(row, identity) && !row.zombie);
}

export function identityOf({ pid, startTime }: ProcessRow): ProcessIdentity {
  return { pid, startTime };
}

export function isSame(a: ProcessIdentity, b: ProcessIdentity): boolean {
  return a.pid === b.pid && a.startTime === b.startTime;
}

/** The index of the word that names the program: the script where an interpreter runs one. */
function programOf(argv: readonly string[]): number | undefined {
  if (!RUBY.test(basename(argv[0] ?? ''))) return 0;
  const script = scriptOf(argv);
  if (script === undefined || !/^bundler?$/.test(basename(argv[script] ?? ''))) return script;
  return argv[script + 1] === 'exec' ? script + 2 : undefined;
}

function scriptOf(argv: readonly string[]): number | undefined {
  for (let at = 1; at < argv.length; at += 1) {
    const word = argv[at] ?? '';
    if (word === '-e') return undefined;
    if (!word.startsWith('-')) return at;
    if (RUBY_OPTIONS_WITH_VALUE.has(word)) at += 1;
  }
  return undefined;
}

function basename(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

function ancestorsOf(pid: number, table: Table): ReadonlySet<number> {
  const parents = new Map(table.map((row) => [row.pid, row.ppid]));
  const family = new Set<number>();
  for (let at: number | undefined = pid; at !== undefined && !family.has(at); at = parents.get(at)) {
    family.add(at);
  }
  return family;
}

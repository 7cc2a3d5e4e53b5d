import type { FluentdReading, ProcessIdentity, ProcessRow } from '../progress/fluentd-reading.ts';

type Table = readonly ProcessRow[];

export type Running = Extract<FluentdReading, { kind: 'running' }>;

const PROGRAM = /^(fluentd|td-agent)$/;
const RUBY = /^j?ruby[\d.]*$/;
const RUBY_OPTIONS_WITH_VALUE = new Set(['-I', '-r', '-C', '-E']);
/** With these options Fluentd prints something and exits. */
const ONE_SHOT = new Set(['--dry-run', '--version', '--help', '-h', '--setup', '-s', '--show-plugin-config']);

/** The supervisors (or single processes) of all independent Fluentds. */
export function findSupervisors(table: Table): Table {
  const rows = table.filter(isSupervisor);
  const pids = new Set(rows.map(({ pid }) => pid));
  // Between fork and exec a worker still has its supervisor's command line.
  return rows.filter(({ ppid }) => !pids.has(ppid));
}

/**
 * The processes with this part of a command line, and `before` those that had it, because a program may change its own, or become another
 * one (execve(2)). Without Fluentd's, posidle itself and posidle's ancestors.
 */
export function findMains(table: Table, part: string, self: number, before: Table = []): Table {
  const own = ancestorsOf(self, table);
  const fits = (row: ProcessRow) =>
    row.argv.join(' ').includes(part) || before.some((one) => isSame(row, one));
  return table.filter((row) => !row.zombie && !own.has(row.pid) && !isFluentd(row.argv) && fits(row));
}

/** The Fluentd in a session, or in a session below its leader: `su` and `setsid` start a new one. */
export function findInSession(table: Table, leader: ProcessIdentity): ProcessRow | undefined {
  const rows = findSupervisors(findFamily(table, leader));
  // After SIGUSR2 (1.18 and later) an old and a new supervisor run side by side for a while.
  return rows.toSorted((a, b) => Number(a.startTime) - Number(b.startTime)).at(-1);
}

/**
 * The members of a session, and all their descendants. Linux reuses the leader's pid only when the session has no member left, so a
 * process with that pid and another start time means that all are gone.
 */
export function findFamily(table: Table, leader: ProcessIdentity): Table {
  if (table.some((row) => row.pid === leader.pid && !isSame(row, leader))) return [];
  const family = new Set(table.filter((row) => row.pid === leader.pid || row.session === leader.pid));
  // The iteration also visits the rows that it adds.
  for (const { pid } of family) for (const row of table) if (row.ppid === pid) family.add(row);
  return [...family];
}

/**
 * The supervisor that takes over from `supervisor` after SIGUSR2 (1.18 and later). `before`: the successor of the last look. It gets
 * another parent when the old supervisor ends. Before its exec a worker looks like a successor, too, so `before` must still look like one.
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

/** Whether a command line runs Fluentd, as supervisor or worker. A shell, an init or an editor may name fluentd without running it. */
export function isFluentd(argv: readonly string[]): boolean {
  // <system> process_name sets the titles `supervisor:NAME` and `worker:NAME` (supervisor.rb, setproctitle).
  if (/^(supervisor|worker):/.test(argv[0] ?? '')) return true;
  const program = programOf(argv);
  if (program === undefined || !PROGRAM.test(basename(argv[program] ?? ''))) return false;
  return !argv.slice(program + 1).some((arg) => ONE_SHOT.has(arg));
}

/** Workers ignore SIGINT, and their supervisor restarts them after SIGTERM. */
export function isWorker(argv: readonly string[]): boolean {
  return argv.includes('--under-supervisor') || /^worker:/.test(argv[0] ?? '');
}

/** The same supervisor with its current workers; undefined if it has ended. */
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

/** The index of the program's name in a command line. For an interpreter it is the script. */
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

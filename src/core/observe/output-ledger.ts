import { type BuffersReading, type OutputReading, unseenIn } from '../fluentd/buffer-contents.ts';
import type { Chunk } from '../fluentd/chunk.ts';
import { IN_TAIL_TICK } from '../in-tail/pace.ts';
import type { Millis } from '../text/units.ts';
import { type Account, accountOf, begun, FROM_ZERO, type Start } from './output-account.ts';

const MOST_ACCOUNTS = 10_000;

/**
 * What is known of the delivery by each output, from the first look to the last. A chunk that is gone from its buffer was sent or
 * thrown away, and only the counters tell which: `chunks + sent` falls when chunks are thrown away, and never else.
 */
export interface Ledger {
  readonly accounts: ReadonlyMap<string, Account>;
  /** When the buffers were last looked at; undefined: not yet. */
  readonly at: Millis | undefined;
  /** Whether buffers in memory exist, and whether all of them can be seen. */
  readonly memory: 'none' | 'seen' | 'unseen';
  /** Buffers that nobody can see, by name. */
  readonly unseen: readonly string[];
  /** Since when every look has found that each output takes what in_tail reads; undefined: one does not, or nobody tells. */
  readonly roomSince: Millis | undefined;
  /** The process of each worker, where it told. */
  readonly agents: BuffersReading['agents'];
  /** Another Fluentd has taken the place of one that held lines in memory, or read some since the last look. */
  readonly lostWithProcess: boolean;
  /** Chunks that were put aside before the first look. */
  readonly oldBackups: ReadonlySet<string> | undefined;
  /** Chunks that Fluentd has given up and put aside since. */
  readonly givenUp: readonly Chunk[];
  /** That they cannot be listed now, and why. */
  readonly backupsUnknown?: string | undefined;
  /** Buffers whose disk was seen full. */
  readonly full: readonly string[];
}

export const NO_LEDGER: Ledger = {
  accounts: new Map(),
  at: undefined,
  memory: 'none',
  unseen: [],
  roomSince: undefined,
  agents: new Map(),
  lostWithProcess: false,
  oldBackups: undefined,
  givenUp: [],
  full: [],
};

/** What else has to be known to keep the ledger. */
export interface Circumstances {
  readonly at: Millis;
  /** The last movement of any position. */
  readonly movedAt: Millis | undefined;
  /** A worker ended and another one took its place since the last look. */
  readonly isReplaced: boolean;
  /** The pids of the workers that run now. */
  readonly running: ReadonlySet<number>;
  /** Fluentd was started by posidle: what lies in the backup directory is its own. */
  readonly isChild: boolean;
  /** Fluentd had not begun to read in the first look: its counters began at 0 later. */
  readonly beganSeen: boolean;
}

/** The ledger after a look. */
export function keepLedger(ledger: Ledger, reading: BuffersReading | undefined, now: Circumstances): Ledger {
  const others = otherWorkers(ledger, reading, now);
  const isOther = now.isReplaced || others.size > 0;
  const lostWithProcess = ledger.lostWithProcess || (isOther && mayHaveLost(ledger, now));
  const before = begunAnew(ledger, others, now);
  const agents = new Map([...ledger.agents].filter(([worker]) => !others.has(worker)));
  if (reading === undefined) return { ...ledger, accounts: before, agents, lostWithProcess };
  const full = [...new Set([...ledger.full, ...reading.full])];
  const setAside = { ...asideNow(ledger, reading, now), full };
  if (!reading.asked) return { ...ledger, ...setAside };
  const looks = { before: ledger.at ?? now.at, now: now.at };
  const space = ledger.at === undefined ? 100 : undefined;
  const isNew = (worker: number) => others.has(worker) || now.isChild || now.beganSeen;
  const accounts = accountsOf(reading.outputs, before, { isNew, space, looks });
  const hasRoom = !isOther && areTold(reading) && !isRefusing({ accounts });
  return {
    accounts,
    at: now.at,
    roomSince: hasRoom ? (ledger.roomSince ?? now.at) : undefined,
    memory: memoryOf(reading),
    unseen: [
      ...unseenIn(reading),
      ...[...accounts.values()].filter((account) => account.mayHaveGivenUp).map(nameOfGivenUp),
      ...[...accounts.values()].filter((account) => account.mayHaveRefused).map(nameOfRefusing),
    ],
    agents: new Map([...agents, ...reading.agents]),
    lostWithProcess,
    ...setAside,
  };
}

/** What was put aside before the first look that could list it is old, unless such a look came too late to know. */
function asideNow(
  { oldBackups, givenUp, backupsUnknown: before }: Ledger,
  { backups, backupsUnknown }: BuffersReading,
  { isChild }: Circumstances,
): Pick<Ledger, 'oldBackups' | 'givenUp' | 'backupsUnknown'> {
  if (backupsUnknown !== undefined) return { oldBackups, givenUp, backupsUnknown };
  const isNew = isChild || before !== undefined;
  const old = oldBackups ?? new Set(isNew ? [] : backups.map(({ path }) => path));
  return { oldBackups: old, givenUp: backups.filter(({ path }) => !old.has(path)), backupsUnknown };
}

/** The workers that another process has taken the place of: an agent names it, or a counter has gone back, or it no longer runs. */
function otherWorkers(
  ledger: Ledger,
  reading: BuffersReading | undefined,
  { isReplaced, running }: Circumstances,
): ReadonlySet<number> {
  const { agents, accounts } = ledger;
  const isEnded = (worker: number) => !running.has(Number.parseInt(agents.get(worker) ?? '', 10));
  const ended = isReplaced ? [...accounts.values()].map(({ worker }) => worker).filter(isEnded) : [];
  const back = (reading?.outputs ?? []).filter(
    ({ key, told }) => told !== undefined && told.emitted < (accounts.get(key)?.emitted ?? 0),
  );
  return new Set([...ended, ...replacedAgents(ledger, reading), ...back.map(({ worker }) => worker)]);
}

/** The workers whose agent now names another process. */
export function replacedAgents(
  { agents }: Pick<Ledger, 'agents'>,
  reading: BuffersReading | undefined,
): readonly number[] {
  const others = [...(reading?.agents ?? [])].filter(
    ([worker, agent]) => agent !== (agents.get(worker) ?? agent),
  );
  return others.map(([worker]) => worker);
}

/** The agents that tell their process for the first time. */
export function firstAnswers(
  { agents }: Pick<Ledger, 'agents'>,
  reading: BuffersReading | undefined,
): readonly string[] {
  return [...(reading?.agents ?? [])].flatMap(([worker, agent]) => (agents.has(worker) ? [] : [agent]));
}

function memoryOf({ outputs, hidden }: BuffersReading): Ledger['memory'] {
  const inMemory = outputs.filter((output) => output.inMemory);
  if (hidden.length > 0 || inMemory.some(({ told }) => told === undefined)) return 'unseen';
  return inMemory.length > 0 ? 'seen' : 'none';
}

function areTold({ outputs, hidden }: BuffersReading): boolean {
  return hidden.length === 0 && outputs.every(({ told }) => told !== undefined);
}

/** Some buffer did not take all that in_tail read when it was last looked at. */
export function isRefusing({ accounts }: Pick<Ledger, 'accounts'>): boolean {
  return [...accounts.values()].some(({ isRefusing }) => isRefusing);
}

/** Between these instants every buffer took what in_tail read for so long that in_tail, which tries each second, has tried again. */
export function hasTakenAll({ at, roomSince }: Ledger, from: Millis, to: Millis): boolean {
  if (at === undefined || roomSince === undefined || at > to) return false;
  return at - Math.max(from, roomSince) >= 2 * IN_TAIL_TICK;
}

/** Nothing is lost with a process whose memory was seen empty, or flushed unseen, and that has read nothing since. */
export function mayHaveLost(
  { at, memory, accounts }: Ledger,
  { movedAt }: Pick<Circumstances, 'movedAt'>,
  flushedAt = Number.NEGATIVE_INFINITY,
): boolean {
  if (at === undefined || memory === 'none') return false;
  const held = [...accounts.values()].some((account) => account.inMemory && holds(account));
  const since = memory === 'seen' ? at : flushedAt;
  return held || (movedAt !== undefined && movedAt > since);
}

function accountsOf(
  outputs: readonly OutputReading[],
  before: Ledger['accounts'],
  start: Start,
): ReadonlyMap<string, Account> {
  const now = outputs.flatMap((output) =>
    output.told === undefined
      ? []
      : [
          [
            output.key,
            accountOf(output, output.told, before.get(output.key) ?? begun(output, start), start.looks),
          ] as const,
        ],
  );
  // Of an impostor that gives its outputs other names each time, no more are remembered.
  const known = before.size < MOST_ACCOUNTS ? now : now.filter(([key]) => before.has(key));
  return new Map([...before, ...known]);
}

/** The outputs of a Fluentd that is gone of which nobody can see what became of all that they took. */
export function unseenAtTheEnd(
  { accounts }: Ledger,
  movedAt: Millis | undefined,
  flushedAt = Number.NEGATIVE_INFINITY,
): readonly string[] {
  // What came into memory after the last flush may be Fluentd's own events of the stop, where nothing was read since.
  const hasRead = movedAt !== undefined && movedAt > flushedAt;
  return [...accounts.values()].flatMap((account) => {
    const isHolding = holds(account) && (hasRead || !account.takesOwnEvents);
    const isUnseen = isHolding || hasReadSince(account, movedAt);
    if (mayHaveThrownAway(account, isUnseen)) return [nameOfGivenUp(account)];
    return account.inMemory && isUnseen ? [nameOfLastHeld(account)] : [];
  });
}

function nameOfGivenUp({ name }: Account): string {
  return `${name} (it may have thrown chunks away at a limit, unseen)`;
}

function nameOfRefusing({ name }: Account): string {
  return `${name} (it may have refused lines before it first told)`;
}

function nameOfLastHeld({ name }: Account): string {
  return `${name} (nobody could see what its memory held at the end)`;
}

function holds({ held }: Account): boolean {
  return held.chunks + held.bytes > 0;
}

/** `isUnseen`: it held or took lines that nobody has seen since. */
function mayHaveThrownAway(account: Account, isUnseen: boolean): boolean {
  return account.mayHaveGivenUp || (account.isLimited && (isUnseen || account.failing !== undefined));
}

function hasReadSince({ at }: Account, movedAt: Millis | undefined): boolean {
  return movedAt !== undefined && movedAt > at;
}

/** Another worker counts from 0. What was thrown away before stays told. */
function begunAnew(
  { accounts }: Ledger,
  others: ReadonlySet<number>,
  { movedAt }: Circumstances,
): Ledger['accounts'] {
  return new Map(
    [...accounts].map(([key, account]) => {
      if (!others.has(account.worker)) return [key, account];
      const mayHaveGivenUp = mayHaveThrownAway(account, holds(account) || hasReadSince(account, movedAt));
      return [key, { ...account, ...FROM_ZERO, mayHaveGivenUp }];
    }),
  );
}

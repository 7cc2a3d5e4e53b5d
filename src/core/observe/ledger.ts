import type { BuffersReading, Held, OutputReading } from '../fluentd/buffer-contents.ts';
import { heldBy, NOTHING_HELD, unseenIn } from '../fluentd/buffer-contents.ts';
import type { Chunk } from '../fluentd/chunk.ts';
import type { MonitoredOutput } from '../fluentd/monitor-agent.ts';
import type { Millis } from '../text/units.ts';

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
  /** The processes that answered, where they tell. */
  readonly agents: readonly string[];
  /** Another Fluentd has taken the place of one that held lines in memory, or read some since the last look. */
  readonly lostWithProcess: boolean;
  /** Chunks that were put aside before the first look. */
  readonly oldBackups: ReadonlySet<string> | undefined;
  /** Chunks that Fluentd has given up and put aside since. */
  readonly givenUp: readonly Chunk[];
  /** Buffers whose disk was seen full. */
  readonly full: readonly string[];
}

/** What one output has done. */
export interface Account {
  /** `@id`, or `object:…`. */
  readonly id: string;
  readonly name: string;
  /** `chunks + sent`: the most that two looks in a row have shown. */
  readonly most: number;
  /** The same in the last look. */
  readonly last: number;
  readonly held: Held;
  readonly inMemory: boolean;
  readonly emitted: number;
  readonly emitErrors: number;
  /** Chunks that a full buffer has thrown away. */
  readonly dropped: number;
  /** All that it throws away is counted. */
  readonly isCounted: boolean;
  readonly space: number;
  /** All attempts that failed, and those in a row up to the last look; undefined: the last one succeeded. */
  readonly failures: number;
  readonly failing: Failing | undefined;
  /** It failed for so long that it may have thrown away a chunk between two looks. */
  readonly mayHaveGivenUp: boolean;
  /** It has a limit of retries. */
  readonly isLimited: boolean;
  /** Chunks that were thrown away. */
  readonly thrownAway: Held;
  /** How often records could not be put into the buffer. */
  readonly refused: number;
}

interface Failing {
  readonly times: number;
  /** The first of them came later. */
  readonly since: Millis;
  /** Sent chunks when the last of them was seen. */
  readonly sent: number;
}

export const NO_LEDGER: Ledger = {
  accounts: new Map(),
  at: undefined,
  memory: 'none',
  unseen: [],
  agents: [],
  lostWithProcess: false,
  oldBackups: undefined,
  givenUp: [],
  full: [],
};

/** Where less is free, an output may have refused records only until there was room again. */
const ROOM_ENOUGH = 20;

/** What else has to be known to keep the ledger. */
export interface Circumstances {
  readonly at: Millis;
  /** The last movement of any position. */
  readonly movedAt: Millis | undefined;
  /** A worker ended and another one took its place since the last look. */
  readonly isReplaced: boolean;
  /** Fluentd was started by posidle: what lies in the backup directory is its own. */
  readonly isChild: boolean;
  /** Fluentd had not begun to read in the first look: its counters began at 0 later. */
  readonly beganSeen: boolean;
}

/** The ledger after a look. */
export function keepLedger(ledger: Ledger, reading: BuffersReading | undefined, now: Circumstances): Ledger {
  const isOther = now.isReplaced || (reading !== undefined && isOtherFluentd(ledger, reading));
  const lostWithProcess = ledger.lostWithProcess || (isOther && mayHaveLost(ledger, now));
  const before = isOther ? begunAnew(ledger, now) : ledger.accounts;
  if (reading === undefined) return { ...ledger, accounts: before, lostWithProcess };
  const isNew = isOther || now.isChild || now.beganSeen;
  const oldBackups = ledger.oldBackups ?? new Set(now.isChild ? [] : reading.backups.map(({ path }) => path));
  const setAside = {
    oldBackups,
    givenUp: reading.backups.filter(({ path }) => !oldBackups.has(path)),
    full: [...new Set([...ledger.full, ...reading.full])],
  };
  if (!reading.asked) return { ...ledger, ...setAside };
  const looks = { before: ledger.at ?? now.at, now: now.at };
  const space = ledger.at === undefined ? 100 : 0;
  const accounts = accountsOf(reading.outputs, before, { isNew, space, looks });
  return {
    accounts,
    at: now.at,
    memory: memoryOf(reading),
    unseen: [
      ...unseenIn(reading),
      ...[...accounts.values()]
        .filter(({ mayHaveGivenUp }) => mayHaveGivenUp)
        .map(
          ({ name }) => `${name} (it failed so often that it may have thrown chunks away at its retry limit)`,
        ),
    ],
    agents:
      isOther && reading.agents.length > 0
        ? reading.agents
        : [...new Set([...ledger.agents, ...reading.agents])],
    lostWithProcess,
    ...setAside,
  };
}

/** The agents name other processes, or a counter has gone back. */
function isOtherFluentd({ agents, accounts }: Ledger, reading: BuffersReading): boolean {
  // Of several workers one may answer later than the others.
  const isRenamed =
    reading.agents.some((agent) => !agents.includes(agent)) &&
    agents.some((agent) => !reading.agents.includes(agent));
  return (
    isRenamed ||
    reading.outputs.some(
      ({ key, told }) => (told?.emitted ?? 0) < (accounts.get(key)?.emitted ?? 0) && told !== undefined,
    )
  );
}

function memoryOf({ outputs, hidden }: BuffersReading): Ledger['memory'] {
  const inMemory = outputs.filter((output) => output.inMemory);
  if (hidden.length > 0 || inMemory.some(({ told }) => told === undefined)) return 'unseen';
  return inMemory.length > 0 ? 'seen' : 'none';
}

/** Some buffer had hardly any room when it was last looked at: in_tail cannot hand over what it reads. */
export function isFull({ accounts, at }: Ledger): boolean {
  return at !== undefined && [...accounts.values()].some(({ space }) => space < ROOM_ENOUGH);
}

/** Nothing is lost with a process whose memory was seen empty, and that has read nothing since. */
export function mayHaveLost(
  { at, memory, accounts }: Ledger,
  { movedAt }: Pick<Circumstances, 'movedAt'>,
): boolean {
  if (at === undefined || memory === 'none') return false;
  const held = [...accounts.values()].some(
    (account) => account.inMemory && account.held.chunks + account.held.bytes > 0,
  );
  const since = memory === 'seen' ? at : Number.NEGATIVE_INFINITY;
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
  return new Map([...before, ...now]);
}

/** Another Fluentd counts from 0. What was thrown away before stays told; what was read since the last look may have been. */
function begunAnew({ accounts, at }: Ledger, { movedAt }: Circumstances): Ledger['accounts'] {
  const hasRead = at !== undefined && movedAt !== undefined && movedAt > at;
  return new Map(
    [...accounts].map(([key, account]) => {
      const mayHaveGivenUp = account.mayHaveGivenUp || (hasRead && account.isLimited);
      return [key, { ...account, ...FROM_ZERO, mayHaveGivenUp }];
    }),
  );
}

const FROM_ZERO = {
  most: 0,
  last: 0,
  held: NOTHING_HELD,
  emitted: 0,
  emitErrors: 0,
  dropped: 0,
  space: 100,
  failures: 0,
  failing: undefined,
};

/** How an account begins: whether its counters began at 0, and how much room the buffer had, as far as it is known. */
interface Start {
  readonly looks: Looks;
  readonly isNew: boolean;
  readonly space: number;
}

/** Counters of a Fluentd that ran before the first look count from there on. */
function begun({ name, inMemory, told }: OutputReading, { isNew, space }: Start): Account {
  const nothing = {
    id: told?.id ?? '',
    name,
    inMemory,
    ...FROM_ZERO,
    thrownAway: NOTHING_HELD,
    refused: 0,
    mayHaveGivenUp: false,
    isLimited: false,
  };
  return {
    ...nothing,
    space,
    emitted: isNew ? 0 : (told?.emitted ?? 0),
    emitErrors: isNew ? 0 : (told?.emitErrors ?? 0),
    dropped: isNew ? 0 : (told?.dropped ?? 0),
    failures: isNew ? 0 : (told?.failures ?? 0),
    isCounted: true,
  };
}

/** The counters are read one after the other, so a single look may be off by a chunk: two looks have to agree. */
function accountOf(output: OutputReading, told: MonitoredOutput, before: Account, looks: Looks): Account {
  const held = heldBy(output);
  const dropped = told.dropped ?? 0;
  const now = told.chunks + told.sent + dropped;
  const most = Math.max(before.most, Math.min(before.last, now));
  const lost = Math.max(0, most - Math.max(before.last, now));
  const failing = failingNow(output, told, before, looks);
  const hasRoom = Math.min(told.space, before.space) >= ROOM_ENOUGH;
  return {
    id: told.id,
    name: before.name,
    inMemory: before.inMemory,
    most: most - lost,
    last: now,
    // What was held before the loss tells how many bytes went with it.
    held: now < most && lost === 0 ? before.held : held,
    emitted: told.emitted,
    emitErrors: told.emitErrors,
    dropped,
    isCounted: !output.mayDrop || told.dropped !== undefined,
    space: told.space,
    failures: told.failures,
    failing,
    isLimited: output.retryLimit !== undefined,
    mayHaveGivenUp: before.mayHaveGivenUp || hasReachedLimit(output, failing, before, looks),
    thrownAway: plus(before.thrownAway, {
      chunks: lost + Math.max(0, dropped - before.dropped),
      bytes: lost === 0 ? 0 : Math.max(0, before.held.bytes - held.bytes),
    }),
    refused: before.refused + (hasRoom ? Math.max(0, told.emitErrors - before.emitErrors) : 0),
  };
}

/** When the buffers were looked at. */
interface Looks {
  readonly before: Millis;
  readonly now: Millis;
}

/**
 * A success ends the retries of all chunks (output.rb, commit_write). As many chunks more as there are threads may only be on their way;
 * an empty buffer has none that is. The threads that fail together are one retry (output.rb, update_retry_state).
 */
function failingNow(
  output: OutputReading,
  told: MonitoredOutput,
  before: Account,
  looks: Looks,
): Failing | undefined {
  const threads = output.retryLimit?.threads ?? 1;
  const failed = Math.ceil((told.failures - before.failures) / threads);
  const { times, since } = before.failing ?? { times: 0, since: looks.before };
  if (failed > 0) return { times: times + failed, since, sent: told.sent };
  const isOver = told.chunks + told.bytes === 0 || told.sent > (before.failing?.sent ?? 0) + threads;
  return isOver ? undefined : before.failing;
}

/** The limit is asked for at each attempt that failed. */
function hasReachedLimit(
  { retryLimit }: OutputReading,
  failing: Failing | undefined,
  before: Account,
  { now }: Looks,
): boolean {
  if (retryLimit === undefined || failing === undefined || failing.times === before.failing?.times)
    return false;
  return failing.times > retryLimit.times || now - failing.since >= retryLimit.timeout;
}

function plus(one: Held, other: Held): Held {
  return { chunks: one.chunks + other.chunks, bytes: one.bytes + other.bytes };
}

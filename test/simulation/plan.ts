import type { Millis } from '../../src/core/text/units.ts';
import { Random } from './random.ts';

/** The events of a lifetime, with their times. */
export type Deed = { readonly at: Millis } & (
  | { readonly do: 'write'; readonly file: string; readonly lines: number }
  | { readonly do: 'begin-line' | 'truncate' | 'remove' | 'rotate' | 'remove-rotated'; readonly file: string }
  | { readonly do: 'destination'; readonly is: DestinationState }
  | { readonly do: 'fluentd-starts' | 'compaction' | Harm }
  | { readonly do: 'clock-jumps'; readonly by: Millis }
  | { readonly do: 'stall' | 'silence'; readonly takes: Millis }
  | { readonly do: 'trigger'; readonly by: TriggerName }
);

/** The deeds to a Fluentd. By SIGUSR2 it restarts without a pause. */
export type Harm =
  | 'worker-dies'
  | 'fluentd-dies'
  | 'supervisor-dies'
  | 'fluentd-is-told'
  | 'fluentd-restarts';

/** Dead: each send is tried again. Rejecting: Fluentd puts the chunk aside. */
export type DestinationState = 'up' | 'dead' | 'rejecting';
type TriggerName = 'done-file' | 'http' | 'SIGTERM' | 'main ends';

export interface Settings {
  /** How posidle stands to Fluentd: beside it, as its parent, or in another container. */
  readonly placement: 'watch' | 'run' | 'remote';
  readonly hasWitness: boolean;
  readonly quiet: Millis | 'off';
  readonly doneProcess: boolean;
  readonly settle: Millis;
  readonly drainTimeout: Millis;
  readonly grace: Millis;
  readonly stopTimeout: Millis;
  readonly startTimeout: Millis;
  readonly restartPolicy: 'never' | 'always';
  readonly version: '1.14' | '1.18' | '1.20';
  readonly refreshInterval: Millis;
  readonly rotateWait: Millis;
  /** Lines a second of one file; 0: no limit. */
  readonly readLimit: number;
  /** Lines that in_tail reads at once, and how long that takes. */
  readonly batch: number;
  readonly batchTakes: Millis;
  /** From Fluentd's start to its worker's first look at the files. */
  readonly startTakes: Millis;
  readonly buffer: 'none' | 'memory' | 'file';
  readonly flushInterval: Millis;
  readonly flushAtShutdown: boolean;
  /** Lines in a chunk, and in all chunks. */
  readonly chunkLimit: number;
  readonly totalLimit: number;
  readonly overflow: 'throw_exception' | 'block' | 'drop_oldest_chunk';
  /** 0: for ever. */
  readonly retryMaxTimes: number;
  readonly sendTakes: Millis;
  /** How many of the kernel's file events come late, or never. */
  readonly lostEvents: number;
  /** How long one call of posidle to the system takes, at most. */
  readonly callTakes: Millis;
  /** How much later than asked posidle wakes, at most. */
  readonly oversleeps: Millis;
  /** Fluentd minds no SIGINT. */
  readonly isDeaf: boolean;
  /** Another process gets Fluentd's pid after its end. */
  readonly reusesPids: boolean;
}

export interface Plan {
  readonly seed: number;
  readonly settings: Settings;
  readonly deeds: readonly Deed[];
  /** When the kubelet ends the Pod if nobody else has. */
  readonly horizon: Millis;
}

/** The lifetime in which nothing is special, as of a situation that says nothing else: what a shrunk plan keeps where it can. */
export const PLAIN: Settings = {
  placement: 'watch',
  hasWitness: true,
  quiet: 'off',
  doneProcess: false,
  settle: 2_000,
  drainTimeout: 30_000,
  grace: 25_000,
  stopTimeout: 60_000,
  startTimeout: 20_000,
  restartPolicy: 'never',
  version: '1.18',
  refreshInterval: 1_000,
  rotateWait: 5_000,
  readLimit: 0,
  batch: 1_000,
  batchTakes: 10,
  startTakes: 800,
  buffer: 'memory',
  flushInterval: 1_000,
  flushAtShutdown: true,
  chunkLimit: 100_000,
  totalLimit: 1_000_000,
  overflow: 'throw_exception',
  retryMaxTimes: 0,
  sendTakes: 50,
  lostEvents: 0,
  callTakes: 0,
  oversleeps: 0,
  isDeaf: false,
  reusesPids: false,
};

const FILES = ['/logs/a.log', '/logs/b.log', '/logs/c.log'] as const;

/** The plan of a lifetime: one seed, one plan. */
export function planOf(seed: number): Plan {
  const random = new Random(seed);
  const settings = settingsBy(random);
  const mainEnds = random.between(500, 9_000);
  const deeds = [
    { at: startOf(random), do: 'fluentd-starts' as const },
    ...mainDeeds(random, mainEnds),
    ...faults(random, settings, mainEnds + 6_000),
    ...triggers(random, settings, mainEnds),
  ].toSorted((a, b) => a.at - b.at);
  const horizon = mainEnds + random.between(60_000, 150_000);
  return { seed, settings, deeds, horizon };
}

/** Fluentd is mostly there from the start. */
function startOf(random: Random): Millis {
  return random.chance(0.8) ? 0 : random.between(0, 6_000);
}

function settingsBy(random: Random): Settings {
  const quiet = random.chance(0.3);
  const rarely = <T>(usual: T, ...others: readonly [T, ...T[]]): T =>
    random.chance(0.75) ? usual : random.pick(others);
  const placement = random.pick<Settings['placement']>(['watch', 'watch', 'run', 'remote']);
  const buffer = random.pick<Settings['buffer']>(['none', 'memory', 'file', 'file']);
  return {
    ...PLAIN,
    placement,
    // In another container only a witness can be asked for a flush, and told to stop.
    hasWitness: placement === 'remote' || random.chance(0.5),
    quiet: quiet ? random.pick([2_000, 4_000]) : 'off',
    doneProcess: placement !== 'remote' && random.chance(0.2),
    settle: rarely(2_000, 1_500, 3_000),
    drainTimeout: rarely(30_000, 5_000, 12_000),
    grace: rarely(25_000, 8_000),
    stopTimeout: rarely(60_000, 6_000),
    restartPolicy: rarely('never', 'always'),
    version: random.pick(['1.14', '1.18', '1.20']),
    refreshInterval: rarely(2_000, 500, 5_000),
    rotateWait: rarely(1_000, 5_000),
    readLimit: rarely(0, 20, 60),
    batch: random.pick([5, 20, 100]),
    batchTakes: random.pick([1, 10, 80]),
    startTakes: rarely(800, 500, 2_000),
    buffer,
    flushInterval: random.pick([1_000, 10_000, 60_000]),
    flushAtShutdown: buffer === 'memory' || random.chance(0.2),
    chunkLimit: random.pick([10, 50]),
    totalLimit: rarely(100_000, 30, 100),
    overflow: random.pick(['throw_exception', 'block', 'drop_oldest_chunk']),
    retryMaxTimes: rarely(0, 1, 3),
    sendTakes: random.pick([5, 100, 700]),
    lostEvents: rarely(0, 0.3, 1),
    callTakes: rarely(0, 2, 30),
    oversleeps: rarely(0, 20, 400, 1_500),
    isDeaf: random.chance(0.03),
    reusesPids: random.chance(0.1),
  };
}

function mainDeeds(random: Random, mainEnds: Millis): readonly Deed[] {
  const deeds: Deed[] = [];
  const rotates = random.chance(0.25);
  const isCareless = random.chance(0.15);
  for (let count = random.between(0, 12); count > 0; count -= 1) {
    const at = random.chance(0.15) ? mainEnds : random.between(0, mainEnds);
    const file = random.pick(FILES);
    const lines = random.chance(0.1) ? random.between(50, 200) : random.between(1, 10);
    if (rotates && random.chance(0.25)) deeds.push({ at, do: 'rotate', file });
    if (isCareless && random.chance(0.2))
      deeds.push({ at, do: random.pick(['truncate', 'remove', 'remove-rotated']), file });
    deeds.push({ at, do: 'write', file, lines });
  }
  if (rotates && random.chance(0.5)) {
    // A program that has the renamed file open writes its last lines there.
    const file = random.pick(FILES);
    deeds.push({ at: mainEnds - random.between(0, 900), do: 'rotate', file });
    deeds.push({ at: mainEnds, do: 'write', file: `${file}.1`, lines: random.between(1, 10) });
  }
  if (random.chance(0.1)) deeds.push({ at: mainEnds, do: 'begin-line', file: random.pick(FILES) });
  return deeds;
}

function faults(random: Random, settings: Settings, until: Millis): readonly Deed[] {
  const deeds: Deed[] = [];
  const sometime = () => random.between(0, until);
  if (random.chance(0.2)) {
    const at = sometime();
    deeds.push({ at, do: 'destination', is: random.pick(['dead', 'dead', 'rejecting']) });
    if (random.chance(0.7)) deeds.push({ at: at + random.between(500, 8_000), do: 'destination', is: 'up' });
  }
  if (random.chance(0.1)) deeds.push({ at: sometime(), do: 'worker-dies' });
  if (random.chance(0.04)) {
    const at = sometime();
    deeds.push({ at, do: 'fluentd-dies' });
    const isStartedAgain = settings.restartPolicy === 'always' || random.chance(0.3);
    if (isStartedAgain && settings.placement !== 'run')
      deeds.push({ at: at + random.between(10, 3_000), do: 'fluentd-starts' });
  }
  if (random.chance(0.03)) deeds.push({ at: sometime(), do: 'supervisor-dies' });
  if (random.chance(0.03)) deeds.push({ at: sometime(), do: 'fluentd-is-told' });
  // Before 1.18 it reloads within its worker. In another container the first supervisor's end ends the container.
  const canRestart = settings.version !== '1.14' && settings.placement !== 'remote';
  if (canRestart && random.chance(0.05)) deeds.push({ at: sometime(), do: 'fluentd-restarts' });
  if (random.chance(0.1)) deeds.push({ at: sometime(), do: 'compaction' });
  if (random.chance(0.05))
    deeds.push({ at: sometime(), do: 'clock-jumps', by: random.pick([-3_600_000, -500, 3_600_000]) });
  if (random.chance(0.05)) deeds.push({ at: sometime(), do: 'stall', takes: random.between(200, 5_000) });
  // For a while, or for good.
  if (settings.hasWitness && random.chance(0.06))
    deeds.push({ at: sometime(), do: 'silence', takes: random.pick([1_000, 10_000, 300_000]) });
  return deeds;
}

/** The first trigger comes with main's end, or a little off; a second one may follow. */
function triggers(random: Random, settings: Settings, mainEnds: Millis): readonly Deed[] {
  const deeds: Deed[] = [];
  const late = () => mainEnds + (random.chance(0.5) ? 1 : random.between(1, 1_500));
  if (settings.doneProcess) deeds.push({ at: late(), do: 'trigger', by: 'main ends' });
  const isCovered = settings.quiet !== 'off' || settings.doneProcess;
  if (!isCovered || random.chance(0.15))
    deeds.push({ at: late(), do: 'trigger', by: random.pick(['done-file', 'http', 'SIGTERM']) });
  if (random.chance(0.04))
    deeds.push({ at: mainEnds + random.between(0, 9_000), do: 'trigger', by: 'SIGTERM' });
  return deeds;
}

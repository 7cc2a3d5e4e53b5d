import { constants, watch } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { EXIT, type Outcome } from '../core/drain/outcome.ts';
import { findSupervisors, type ProcessRow } from '../core/fluentd/processes.ts';
import { type GateMarks, type GateWord, gateWord, mayStopHelp } from '../core/hook/gate-marks.ts';
import type { Millis } from '../core/text/units.ts';
import { rubyOption, SHARED_DIR } from '../core/witness/load.ts';
import { tellWitnesses } from '../daemon/perform.ts';
import { NodeHost } from '../node/node-host.ts';
import { CommandError } from './usage-error.ts';
import type { WatchSetup } from './watch.ts';
import type { WatchOptions } from './watch-options.ts';

const LOOKS: Millis = 50;
const FLUSH_EVERY: Millis = 5_000;
/** A Fluentd that is short of CPU takes so long until it loads the witness. */
const WITNESS_START: Millis = 20_000;
/** The same, until an entrypoint has started it. */
const FLUENTD_START: Millis = 3_000;
/** What is kept of the grace period when main does not end: a last flush, and Fluentd's stop. */
const DRAIN_RESERVE: Millis = 15_000;

const NOBODY_HERE =
  'no Fluentd runs in this container: there is nothing to drain. The preStop hook belongs to the container of Fluentd; the annotation posidle/container names it';

interface Hook {
  readonly grace: Millis;
  /** The caller knows it. */
  readonly mainEnded: boolean;
  readonly witness: string | undefined;
}

/** What `watch` has to do, with its trigger pulled. */
export interface Begun {
  readonly options: WatchOptions;
  readonly drain: Pick<WatchSetup, 'found'>;
}

/** A host that sees Fluentd by its witness only. The container, and posidle in it, ends with the supervisor: the last word of a worker comes before. */
export class HookHost extends NodeHost {
  isWitnessed = false;

  override async listProcesses(): Promise<readonly ProcessRow[]> {
    return this.isWitnessed ? [] : await super.listProcesses();
  }
}

/** Waits for the gate. undefined: only Fluentd's container is restarted, and its buffers are flushed. */
export async function beginDrain(
  host: HookHost,
  { grace, mainEnded, witness: dir = process.env['POSIDLE_DIR'] ?? SHARED_DIR }: Hook,
): Promise<Begun | undefined> {
  const { hookAt } = await readGateMarks(dir, Date.now());
  const begin = host.now() - (Date.now() - hookAt);
  const word = mainEnded ? 'main-ended' : await waitForGate(host, dir, grace);
  if (word === 'only-fluentd') {
    await tellWitnesses(host, 'flush', dir);
    return undefined;
  }
  host.isWitnessed = await waitForWitness(host, dir);
  if (!host.isWitnessed && !(await hasFluentd(host))) throw new CommandError(NOBODY_HERE, EXIT.noFluentd);
  // The grace period began with the hook.
  host.request(word === 'main-ended' ? 'main-ended' : 'hook', begin);
  const found = { posFiles: [], conf: undefined, warnings: [], confPath: undefined };
  const witness = host.isWitnessed ? dir : 'off';
  return {
    options: { grace, quiet: 'off', nativeSidecar: true, witness },
    drain: host.isWitnessed ? { found } : {},
  };
}

/**
 * Stops Fluentd: a shell as the container's first process pays no attention to the kubelet's SIGTERM. undefined: the outcome stands. Else
 * the last word of Fluentd may say more, and `watch` has to wait for it.
 */
export async function endDrain(
  host: HookHost,
  { options, drain }: Begun,
  outcome: Outcome,
): Promise<Begun | undefined> {
  const { witness: dir } = options;
  if (dir === undefined || !host.isWitnessed) return undefined;
  if (mayStopHelp(outcome)) {
    watch(dir, () => host.wake()).unref();
    return { options: { ...options, nativeSidecar: false, restartPolicy: 'always' }, drain };
  }
  await tellWitnesses(host, 'end', dir);
  return undefined;
}

async function waitForGate(host: HookHost, dir: string, grace: Millis): Promise<GateWord> {
  const begin = Date.now();
  const patience = Math.max(grace - DRAIN_RESERVE, grace / 2);
  for (let flushedAt = host.now(); ; ) {
    const word = gateWord(await readGateMarks(dir, begin), Date.now(), patience);
    if (word !== 'wait') return word;
    if (host.now() >= flushedAt + FLUSH_EVERY) {
      flushedAt = host.now();
      await tellWitnesses(host, 'flush', dir);
    }
    await host.sleep(host.now() + LOOKS);
  }
}

/** A main of half a second ends before Fluentd is up. The hook has the environment of Fluentd. */
async function waitForWitness(host: HookHost, dir: string): Promise<boolean> {
  const isMeant = process.env['RUBYOPT']?.includes(rubyOption(dir)) ?? false;
  for (const begin = host.now(); ; await host.sleep(host.now() + LOOKS)) {
    if (await host.hasWitness(dir)) return true;
    const patience = (await hasFluentd(host)) ? WITNESS_START : FLUENTD_START;
    if (!isMeant || host.now() >= begin + patience) return false;
  }
}

async function hasFluentd(host: HookHost): Promise<boolean> {
  return findSupervisors(await host.listProcesses()).length > 0;
}

/** What lies in the directory that hook and gate share. */
async function readGateMarks(dir: string, begin: number): Promise<GateMarks> {
  // Before the marks: the gate writes its last one, and ends.
  const lives = await isRead(join(dir, 'gate-lives'));
  const [hookAt = begin, upAt, endingAt, mainEndedAt] = await Promise.all(
    ['hook', 'up', 'ending', 'main-ended'].map((name) => writtenAt(join(dir, name))),
  );
  return { hookAt, isUp: upAt !== undefined, endingAt, mainEndedAt, lives };
}

async function writtenAt(path: string): Promise<number | undefined> {
  return (await stat(path).catch(() => undefined))?.mtimeMs;
}

/** A FIFO without a reader cannot be opened for writing (fifo(7), ENXIO). */
async function isRead(path: string): Promise<boolean> {
  const file = await open(path, constants.O_WRONLY | constants.O_NONBLOCK).catch(() => undefined);
  await file?.close();
  return file !== undefined;
}

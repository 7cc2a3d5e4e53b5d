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
/** How long Fluentd may take to load the witness if it is short of CPU. */
const WITNESS_START: Millis = 20_000;
/** How long an entrypoint may take to start Fluentd. */
const FLUENTD_START: Millis = 3_000;
/** The part of the grace period for a last flush and Fluentd's stop, if main does not end. */
const DRAIN_RESERVE: Millis = 15_000;

const NOBODY_HERE =
  'no Fluentd runs in this container: there is nothing to drain. The preStop hook belongs to the container of Fluentd; the annotation posidle/container names it';

interface Hook {
  readonly grace: Millis;
  /** The caller knows that main has ended. */
  readonly mainEnded: boolean;
  readonly witness: string | undefined;
}

/** The arguments for `watch`. The trigger has already come. */
export interface Begun {
  readonly options: WatchOptions;
  readonly drain: Pick<WatchSetup, 'found'>;
}

/**
 * With a witness this host hides all processes. The container, and posidle in it, ends with the supervisor, so posidle must wait for the
 * workers' last words instead of the end of processes.
 */
export class HookHost extends NodeHost {
  isWitnessed = false;

  override async listProcesses(): Promise<readonly ProcessRow[]> {
    return this.isWitnessed ? [] : await super.listProcesses();
  }
}

/** Waits for the gate. Undefined if only Fluentd's container restarts: then it flushes the buffers and needs no drain. */
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
  // The grace period began when the hook began.
  host.request(word === 'main-ended' ? 'main-ended' : 'hook', begin);
  const found = { posFiles: [], conf: undefined, warnings: [], confPath: undefined };
  const witness = host.isWitnessed ? dir : 'off';
  return {
    options: { grace, quiet: 'off', nativeSidecar: true, witness },
    drain: host.isWitnessed ? { found } : {},
  };
}

/**
 * Stops Fluentd, because a shell as the container's PID 1 ignores the kubelet's SIGTERM. Undefined if the outcome is final. Otherwise
 * Fluentd's last word may improve it, and `watch` must wait for it.
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
  await tellWitnesses(host, 'stop', dir);
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

/** A short main may end before Fluentd has started. The hook has Fluentd's RUBYOPT, which shows whether a witness will come. */
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

/** Reads the marks in the directory that hook and gate share. */
async function readGateMarks(dir: string, begin: number): Promise<GateMarks> {
  // Before the marks, because the gate ends right after its last mark.
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

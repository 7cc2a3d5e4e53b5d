import type { ProcessRow } from '../core/fluentd/processes.ts';
import { type GateWord, gateWord, MAIN_MAY_RUN } from '../core/hook/gate.ts';
import type { Millis } from '../core/text/units.ts';
import { readGateMarks } from '../node/files/gate-marks.ts';
import { NodeHost } from '../node/node-host.ts';
import type { Surroundings } from './watch.ts';
import type { WatchOptions } from './watch-options.ts';
import { rubyOption, SHARED_DIR } from './witness.ts';

const LOOKS: Millis = 50;
const FLUSH_EVERY: Millis = 5_000;
/** A Fluentd that is short of CPU takes so long until it loads the witness. */
const SLOW_START: Millis = 20_000;
/** What is kept of the grace period when main does not end: a last flush, and Fluentd's stop. */
const RESERVE: Millis = 15_000;

export interface Hook {
  readonly grace: Millis;
  /** The caller knows it. */
  readonly mainEnded: boolean;
  readonly witness: string | undefined;
}

/**
 * Fluentd's container, and posidle in it, ends with the supervisor. What counts is the last word of the workers, which comes before:
 * where they have a witness, nobody looks at processes.
 */
export class HookHost extends NodeHost {
  isWitnessed = false;

  override async listProcesses(): Promise<readonly ProcessRow[]> {
    return this.isWitnessed ? [] : await super.listProcesses();
  }
}

/** What `watch` has to do, with its trigger pulled; undefined: only Fluentd's container is restarted, and its buffers are flushed. */
export async function beginDrain(
  host: HookHost,
  { grace, mainEnded, witness: dir = process.env['POSIDLE_DIR'] ?? SHARED_DIR }: Hook,
): Promise<{ options: WatchOptions; drain: Pick<Surroundings, 'found' | 'doubt'> } | undefined> {
  const { hookAt } = await readGateMarks(dir, Date.now());
  const begin = host.now() - (Date.now() - hookAt);
  const word = mainEnded ? 'main-ended' : await waitForGate(host, dir, grace);
  if (word === 'only-fluentd') {
    await flush(host, dir);
    return undefined;
  }
  host.isWitnessed = await waitForWitness(host, dir);
  // The grace period began with the hook.
  host.request(word === 'main-ended' ? 'main-ended' : 'hook', begin);
  const found = { posFiles: [], conf: undefined, warnings: [], confPath: undefined };
  return {
    // Without a witness the kubelet stops Fluentd: posidle would end with it, before it knows the outcome.
    options: {
      grace,
      quiet: 'off',
      restartPolicy: 'always',
      ...(host.isWitnessed ? { witness: dir } : { witness: 'off', nativeSidecar: true }),
    },
    drain: { ...(host.isWitnessed && { found }), ...(word !== 'main-ended' && { doubt: MAIN_MAY_RUN }) },
  };
}

async function waitForGate(host: HookHost, dir: string, grace: Millis): Promise<GateWord> {
  const begin = Date.now();
  const patience = Math.max(grace - RESERVE, grace / 2);
  for (let flushedAt = host.now(); ; ) {
    const word = gateWord(await readGateMarks(dir, begin), Date.now(), patience);
    if (word !== 'wait') return word;
    if (host.now() >= flushedAt + FLUSH_EVERY) {
      flushedAt = host.now();
      await flush(host, dir);
    }
    await host.sleep(host.now() + LOOKS);
  }
}

/** What Fluentd sends meanwhile is not left at the end. */
async function flush(host: HookHost, dir: string): Promise<void> {
  const { witnesses } = await host.askWitnesses(dir);
  const alive = witnesses.filter(({ kind }) => kind === 'alive');
  await Promise.all(alive.map(({ worker }) => host.tellWitness(dir, worker, 'flush')));
}

/** A main of half a second ends before Fluentd is up. The hook has the environment of Fluentd. */
async function waitForWitness(host: HookHost, dir: string): Promise<boolean> {
  const isMeant = process.env['RUBYOPT']?.includes(rubyOption(dir)) ?? false;
  for (const until = host.now() + (isMeant ? SLOW_START : 0); host.now() < until; )
    if (await host.hasWitness(dir)) return true;
    else await host.sleep(host.now() + LOOKS);
  return await host.hasWitness(dir);
}

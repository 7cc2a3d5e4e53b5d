import { constants } from 'node:os';
import { EXIT } from '../core/drain/outcome.ts';
import {
  type FluentdReading,
  type FluentdTarget,
  findFamily,
  identityOf,
  type ProcessIdentity,
} from '../core/fluentd/processes.ts';
import { LONGEST_TIMER, type Millis } from '../core/text/units.ts';
import { FluentdFinder } from '../daemon/find-fluentd.ts';
import type { NodeHost } from '../node/node-host.ts';
import { type Child, startChild } from '../node/processes/child.ts';
import { CommandError } from './usage-error.ts';

const NOT_FOUND = 127;
const NOT_EXECUTABLE = 126;
/** What a wrapper gets when its Fluentd is gone: `fluentd | cat` has still to write. */
const WRAPPER_END: Millis = 2_000;
const LOOKS: Millis = 100;

/** The parent's side of a Fluentd: its child, whatever that turns into, and how it ended. */
export class Parent {
  readonly #host: NodeHost;
  readonly #command: readonly string[];
  #child: Child | undefined;

  constructor(host: NodeHost, command: readonly string[]) {
    this.#host = host;
    this.#command = command;
  }

  /** Starts the command; nothing of it survives this process. */
  async start(): Promise<FluentdTarget> {
    const child = await this.#start();
    this.#child = child;
    process.once('exit', child.killGroup);
    void child.ended.then(() => this.#host.wake());
    return { by: 'session', leader: child.pid };
  }

  /** To the supervisor alone, a wrapper would die of it; looked up anew, since SIGUSR2 (1.18 and later) puts another one in its place. */
  async forward(signal: string): Promise<void> {
    const found = await this.#find();
    if (found?.kind === 'running') await this.#host.signal(found.supervisor, signal);
  }

  /** To Fluentd, or to the wrapper that shows none. */
  async end(signal: string): Promise<void> {
    const found = await this.#find();
    if (found?.kind === 'wrapper') await this.#host.signal(found.leader, signal);
    else await this.forward(signal);
  }

  /** Tells it to end and waits, but not for ever. */
  async stop(signal: string, within: Millis): Promise<void> {
    if (this.#child === undefined) return;
    await this.end(signal);
    await this.#childEnds(within);
    await this.finish();
  }

  /** Fluentd is gone: its wrapper may end by itself, but not start another one. Then nothing is left of the command, in whatever session. */
  async finish(): Promise<void> {
    if (this.#child === undefined) return;
    const before = await this.#family();
    for (let left = WRAPPER_END; left > 0; left -= LOOKS) {
      if ((await this.#find())?.kind !== 'wrapper') break;
      await this.#childEnds(LOOKS);
    }
    const rest = [...before, ...(await this.#family())];
    await Promise.all(rest.map((process) => this.#host.signal(process, 'SIGKILL')));
    this.#child.killGroup();
  }

  /** The child's exit code once it has ended, 128 + n for a signal. */
  async ownCode(): Promise<number> {
    if (this.#child === undefined) return EXIT.bug;
    const { code, signal } = await this.#child.ended;
    return signal === null ? (code ?? EXIT.bug) : 128 + constants.signals[signal];
  }

  async #start(): Promise<Child> {
    try {
      return await startChild(this.#command);
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      const isMissing = code === 'ENOENT';
      throw new CommandError(
        `cannot run ${this.#command[0]}: ${isMissing ? 'no such command' : message}`,
        isMissing ? NOT_FOUND : NOT_EXECUTABLE,
      );
    }
  }

  async #find(): Promise<FluentdReading | undefined> {
    if (this.#child === undefined) return undefined;
    const fluentd = { by: 'session', leader: this.#child.pid } as const;
    const subject = { fluentd, conf: undefined, stopVia: 'signal', posFiles: [] } as const;
    return await new FluentdFinder(this.#host, subject).find(undefined);
  }

  async #family(): Promise<readonly ProcessIdentity[]> {
    if (this.#child === undefined) return [];
    return findFamily(await this.#host.listProcesses(), this.#child.pid).map(identityOf);
  }

  async #childEnds(within: Millis): Promise<void> {
    const ended = this.#child?.ended;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, Math.min(within, LONGEST_TIMER));
      void ended?.then(() => {
        clearTimeout(timer);
        resolve();
      });
    });
  }
}

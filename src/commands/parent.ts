import { constants } from 'node:os';
import { EXIT } from '../core/outcome.ts';
import type { FluentdTarget, ProcessIdentity } from '../core/processes.ts';
import { LONGEST_TIMER, type Millis } from '../core/units.ts';
import { findFluentd } from '../daemon/find-fluentd.ts';
import { type Child, startChild } from '../node/child.ts';
import type { NodeHost } from '../node/node-host.ts';
import { CommandError } from './usage-error.ts';

const NOT_FOUND = 127;
const NOT_EXECUTABLE = 126;

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

  /** To the supervisor, looked up anew: SIGUSR2 (1.18 and later) puts another one in the place of the child. */
  async forward(signal: string): Promise<void> {
    const target = await this.#supervisor();
    if (target !== undefined) await this.#host.signal(target, signal);
  }

  /** Tells it to end and waits, but not for ever. */
  async stop(signal: string, within: Millis): Promise<void> {
    if (this.#child === undefined) return;
    await this.forward(signal);
    const { ended } = this.#child;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, Math.min(within, LONGEST_TIMER));
      void ended.then(() => {
        clearTimeout(timer);
        resolve();
      });
    });
  }

  /** The child's exit code once it has ended, 128 + n for a signal. */
  async ownCode(): Promise<number> {
    if (this.#child === undefined) return EXIT.bug;
    const { code, signal } = await this.#child.ended;
    return signal === null ? (code ?? EXIT.bug) : 128 + constants.signals[signal];
  }

  killGroup(): void {
    this.#child?.killGroup();
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

  async #supervisor(): Promise<ProcessIdentity | undefined> {
    if (this.#child === undefined) return undefined;
    const fluentd = { by: 'session', leader: this.#child.pid } as const;
    const found = await findFluentd(this.#host, { fluentd, conf: undefined, stopVia: 'signal' }, undefined);
    return found.kind === 'running' ? found.supervisor : undefined;
  }
}

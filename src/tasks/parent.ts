import { EXIT } from '../core/drain/outcome.ts';
import { findFamily, identityOf } from '../core/fluentd/processes.ts';
import type { FluentdReading, FluentdTarget, ProcessIdentity } from '../core/progress/fluentd-reading.ts';
import type { Millis } from '../core/text/units.ts';
import { FluentdFinder } from '../daemon/find-fluentd.ts';
import type { NodeHost } from '../node/node-host.ts';
import { type Child, startChild } from '../node/processes/child.ts';
import { fluentdArguments } from '../node/processes/command-line.ts';
import { CommandError, UsageError } from './usage-error.ts';

const NOT_FOUND = 127;
const NOT_EXECUTABLE = 126;
/** The time that a wrapper gets after Fluentd's end: `fluentd | cat` must still write. */
const WRAPPER_END: Millis = 2_000;
const LOOKS: Millis = 100;

export class Parent {
  readonly #host: NodeHost;
  readonly command: readonly string[];
  #child: Child | undefined;
  #leader: ProcessIdentity | undefined;

  /** Throws a UsageError if Fluentd would leave its parent (-d). */
  constructor(host: NodeHost, command: readonly string[]) {
    const { daemon } = fluentdArguments(command);
    if (daemon !== undefined) {
      throw new UsageError(
        '-d, --daemon: Fluentd would leave its parent and run in the background; leave it out',
      );
    }
    this.#host = host;
    this.command = command;
  }

  async start(env = process.env): Promise<FluentdTarget> {
    this.#child = await startChild(this.command, env).catch((error) => refuse(this.command, error));
    const { pid, exitCode } = this.#child;
    void exitCode.then(() => this.#host.wake());
    const family = await this.#host.listProcesses(pid).catch(({ message }: Error) => {
      throw new CommandError(message, EXIT.cannotWork);
    });
    const row = family.find((process) => process.pid === pid);
    this.#leader = { pid, startTime: row?.startTime ?? '' };
    return { by: 'session', leader: this.#leader };
  }

  /** Signals only the supervisor, because the signal would kill a wrapper. Looks it up each time: since 1.18 SIGUSR2 replaces it. */
  async forward(signal: string): Promise<void> {
    const found = await this.#find();
    if (found?.kind === 'running') await this.#host.signal(found.supervisor, signal);
  }

  /** Signals Fluentd, or the child if no Fluentd is visible. After `within` it kills what is left. */
  async shutDown(signal: string, within: Millis): Promise<void> {
    const found = await this.#find();
    if (found?.kind === 'running') await this.#host.signal(found.supervisor, signal);
    else this.#child?.signal(signal);
    await this.#child?.endsWithin(within);
    await this.killRest();
  }

  /** After Fluentd's end: lets the wrapper end by itself, then kills all processes of the command, in all sessions. */
  async killRest(): Promise<void> {
    const before = await this.#family();
    for (let left = WRAPPER_END; left > 0; left -= LOOKS) {
      if ((await this.#find())?.kind !== 'wrapper') break;
      await this.#child?.endsWithin(LOOKS);
    }
    const rest = [...before, ...(await this.#family())];
    await Promise.all(rest.map((process) => this.#host.signal(process, 'SIGKILL').catch(() => 'gone')));
    this.#child?.killGroup();
  }

  /** The child's exit code, 128 + n for signal n; undefined if it never started. */
  async exitCode(): Promise<number | undefined> {
    return this.#child?.exitCode;
  }

  get end(): string | undefined {
    return this.#child?.end();
  }

  async #find(): Promise<FluentdReading | undefined> {
    if (this.#leader === undefined) return undefined;
    const fluentd = { by: 'session', leader: this.#leader } as const;
    const subject = { fluentd, posFiles: [] };
    return await new FluentdFinder(this.#host, subject).find(undefined);
  }

  async #family(): Promise<readonly ProcessIdentity[]> {
    if (this.#leader === undefined) return [];
    // If the system can open nothing more, the group of the child is killed all the same.
    const table = await this.#host.listProcesses().catch(() => []);
    return findFamily(table, this.#leader).map(identityOf);
  }
}

function refuse([file]: readonly string[], { code, message }: NodeJS.ErrnoException): never {
  const isMissing = code === 'ENOENT';
  const why = `cannot run ${file}: ${isMissing ? 'no such command' : message}`;
  throw new CommandError(why, isMissing ? NOT_FOUND : NOT_EXECUTABLE);
}

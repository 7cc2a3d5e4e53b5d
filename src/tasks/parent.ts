import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { constants } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import { EXIT } from '../core/drain/outcome.ts';
import { findFamily, identityOf } from '../core/fluentd/processes.ts';
import type { FluentdReading, FluentdTarget, ProcessIdentity } from '../core/progress/fluentd-reading.ts';
import { formatDuration, LONGEST_TIMER, type Millis } from '../core/text/units.ts';
import { FluentdFinder } from '../daemon/find-fluentd.ts';
import type { NodeHost } from '../node/node-host.ts';
import { fluentdArguments } from '../node/processes/command-line.ts';
import { send } from '../node/processes/processes.ts';
import { CommandError, UsageError } from './usage-error.ts';

const NOT_FOUND = 127;
const NOT_EXECUTABLE = 126;
/** The time that a wrapper gets after Fluentd's end: `fluentd | cat` must still write. */
const WRAPPER_END: Millis = 2_000;
const LOOKS: Millis = 100;

/** Starts Fluentd, or a wrapper of it, as the leader of its own session, with this process's input and output. */
export class Parent {
  readonly #host: NodeHost;
  readonly command: readonly string[];
  #child: ChildProcess | undefined;
  #leader: ProcessIdentity | undefined;
  /** The child's exit code, 128 + n for signal n; undefined if it never started. */
  exitCode: Promise<number> | undefined;
  /** How the child has ended. */
  end: string | undefined;

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
    const [file = '', ...args] = this.command;
    const child = await spawned(file, args, env).catch((error) => refuse(file, error));
    const began = performance.now();
    const exitCode = new Promise<number>((resolve) =>
      child.once('exit', (code, signal) => {
        this.end = `${signal ?? `exit code ${code}`} after ${formatDuration(performance.now() - began)}`;
        resolve(signal === null ? Number(code) : 128 + constants.signals[signal]);
        this.#host.wake();
      }),
    );
    this.#child = child;
    this.exitCode = exitCode;
    process.once('exit', () => this.#killGroup());
    const { pid = 0 } = child;
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
  async shutDown(signal: NodeJS.Signals, within: Millis): Promise<void> {
    const found = await this.#find();
    if (found?.kind === 'running') await this.#host.signal(found.supervisor, signal);
    else this.#child?.kill(signal);
    await this.#endsWithin(within);
    await this.killRest();
  }

  /** After Fluentd's end: lets the wrapper end by itself, then kills all processes of the command, in all sessions. */
  async killRest(): Promise<void> {
    const before = await this.#family();
    for (let left = WRAPPER_END; left > 0; left -= LOOKS) {
      if ((await this.#find())?.kind !== 'wrapper') break;
      await this.#endsWithin(LOOKS);
    }
    const rest = [...before, ...(await this.#family())];
    await Promise.all(rest.map((process) => this.#host.signal(process, 'SIGKILL').catch(() => 'gone')));
    this.#killGroup();
  }

  async #endsWithin(span: Millis): Promise<void> {
    await Promise.race([this.exitCode, pause(Math.min(span, LONGEST_TIMER), undefined, { ref: false })]);
  }

  /** Its id is the pid of the child. Does nothing if the system has reused that. */
  #killGroup(): void {
    const { pid, exitCode = null, signalCode = null } = this.#child ?? {};
    if (pid === undefined) return;
    const isReaped = exitCode !== null || signalCode !== null;
    if (!isReaped || send(pid, 0) === 'gone') send(-pid, 'SIGKILL');
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

/** Rejects also what Node throws at once, such as ENOTDIR. */
async function spawned(file: string, args: readonly string[], env: NodeJS.ProcessEnv): Promise<ChildProcess> {
  const child = spawn(file, args, { detached: true, stdio: 'inherit', env });
  await once(child, 'spawn');
  return child;
}

function refuse(file: string, { code, message }: NodeJS.ErrnoException): never {
  const isMissing = code === 'ENOENT';
  const why = `cannot run ${file}: ${isMissing ? 'no such command' : message}`;
  throw new CommandError(why, isMissing ? NOT_FOUND : NOT_EXECUTABLE);
}

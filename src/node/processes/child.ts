import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { constants } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import { formatDuration, LONGEST_TIMER, type Millis } from '../../core/text/units.ts';
import { send } from './processes.ts';

export interface Child {
  /** Also the id of the child's session and process group. */
  readonly pid: number;
  /** The exit code; 128 + n for signal n. */
  readonly exitCode: Promise<number>;
  readonly end: () => string | undefined;
  endsWithin(span: Millis): Promise<unknown>;
  /** Does nothing once the child is reaped. */
  signal(signal: string): void;
  /** Sends SIGKILL to the process group. Does nothing if the system has reused the pid. */
  killGroup(): void;
}

/** Starts a command as the leader of its own session, with this process's input and output. Its process group ends with this process. */
export async function startChild(command: readonly string[], env: NodeJS.ProcessEnv): Promise<Child> {
  const [file = '', ...args] = command;
  const child = spawn(file, args, { detached: true, stdio: 'inherit', env });
  const began = performance.now();
  let ended: string | undefined;
  const exitCode = new Promise<number>((resolve) =>
    child.once('exit', (code, signal) => {
      ended = `${signal ?? `exit code ${code}`} after ${formatDuration(performance.now() - began)}`;
      resolve(signal === null ? Number(code) : 128 + constants.signals[signal]);
    }),
  );
  await once(child, 'spawn');
  const pid = child.pid ?? 0;
  const killGroup = () => {
    const isReaped = child.exitCode !== null || child.signalCode !== null;
    if (!isReaped || send(pid, 0) === 'gone') send(-pid, 'SIGKILL');
  };
  process.once('exit', killGroup);
  const over = (span: Millis) => pause(Math.min(span, LONGEST_TIMER), undefined, { ref: false });
  return {
    ...{ pid, exitCode, killGroup },
    end: () => ended,
    signal: (signal) => void child.kill(signal as NodeJS.Signals),
    endsWithin: (span) => Promise.race([exitCode, over(span)]),
  };
}

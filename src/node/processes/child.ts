import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import { formatDuration, LONGEST_TIMER, type Millis } from '../../core/text/units.ts';
import { send } from './processes.ts';

export interface Child {
  /** Also the id of its session and process group. */
  readonly pid: number;
  /** Its exit code once it has ended, 128 + n for a signal. */
  readonly exitCode: Promise<number>;
  readonly end: () => string | undefined;
  /** Resolves when it has ended, or when the time is over. */
  endsWithin(span: Millis): Promise<unknown>;
  /** SIGKILL to whatever is left of its process group; to nobody where its pid is another process's by now. */
  killGroup(): void;
}

/**
 * Starts a command as the leader of a session of its own; its input and output are those of this process. Nothing of its
 * process group survives this process.
 */
export function startChild(command: readonly string[], env: NodeJS.ProcessEnv): Promise<Child> {
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
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('spawn', () => {
      const pid = child.pid ?? 0;
      const kill = () => {
        const isReaped = child.exitCode !== null || child.signalCode !== null;
        if (!isReaped || send(pid, 0) === 'gone') send(-pid, 'SIGKILL');
      };
      const over = (span: Millis) => pause(Math.min(span, LONGEST_TIMER), undefined, { ref: false });
      process.once('exit', kill);
      resolve({
        pid,
        exitCode,
        end: () => ended,
        endsWithin: (span) => Promise.race([exitCode, over(span)]),
        killGroup: kill,
      });
    });
  });
}

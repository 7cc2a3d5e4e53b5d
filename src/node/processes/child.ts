import { spawn } from 'node:child_process';

/** How a child ended: a code, or the signal that ended it. */
export interface ChildEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface Child {
  /** Also the id of its session and process group. */
  readonly pid: number;
  readonly ended: Promise<ChildEnd>;
  /** SIGKILL to whatever is left of its process group. */
  killGroup(): void;
}

/** Starts a command as the leader of a session of its own; its input and output are those of this process. */
export function startChild(command: readonly string[]): Promise<Child> {
  const [file = '', ...args] = command;
  const child = spawn(file, args, { detached: true, stdio: 'inherit' });
  const ended = new Promise<ChildEnd>((resolve) =>
    child.once('exit', (code, signal) => resolve({ code, signal })),
  );
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('spawn', () => {
      const pid = child.pid ?? 0;
      resolve({ pid, ended, killGroup: () => killGroup(pid) });
    });
  });
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // ESRCH: nothing is left of it.
  }
}

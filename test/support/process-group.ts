import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';

interface Exit {
  code: number | null;
  signal: NodeJS.Signals | null;
}

export interface GroupOptions {
  log: string;
  env?: NodeJS.ProcessEnv;
  cwd?: string;
}

export interface ProcessGroup {
  pid: number;
  process: ChildProcess;
  exited: Promise<Exit>;
  /** SIGKILL to every process of the group, also where its leader is gone already. */
  kill(): void;
}

const living = new Set<number>();
let watchingExit = false;

function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // ESRCH: nothing of the group is left.
  }
}

function killAtExit(): void {
  if (watchingExit) return;
  watchingExit = true;
  process.on('exit', () => living.forEach(killGroup));
  for (const [signal, code] of [
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const) {
    process.once(signal, () => process.exit(code));
  }
}

/** Its output goes to a file, not through a pipe: a test that does not read must not slow the child down. */
export function startGroup(command: readonly string[], options: GroupOptions): ProcessGroup {
  const [file, ...args] = command;
  if (file === undefined) throw new Error('an empty command');
  killAtExit();
  const log = openSync(options.log, 'a');
  const { env = process.env, cwd } = options;
  const child = spawn(file, args, { detached: true, stdio: ['ignore', log, log], env, ...(cwd && { cwd }) });
  closeSync(log);
  const { pid } = child.once('error', () => {});
  if (pid === undefined) throw new Error(`${file} cannot be started`);
  living.add(pid);
  const exited = new Promise<Exit>((resolve) => {
    child.once('exit', (code, signal) => {
      killGroup(pid);
      living.delete(pid);
      resolve({ code, signal });
    });
  });
  return { pid, process: child, exited, kill: () => killGroup(pid) };
}

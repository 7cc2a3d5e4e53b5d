import { readdirSync, readFileSync } from 'node:fs';

/** The processes whose command line names `word`, without this one. */
export function processesNaming(word: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && commandLine(name).includes(word))
    .map(Number)
    .filter((pid) => pid !== process.pid);
}

/** The workers of the Fluentds whose command line names `word`. */
export function workersOf(word: string): number[] {
  return processesNaming(word).filter((pid) => commandLine(String(pid)).includes('--under-supervisor'));
}

export function killProcesses(pids: readonly number[]): void {
  for (const pid of pids) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // ESRCH: it has ended meanwhile.
    }
  }
}

/** Empty for a zombie and for a process that is gone. */
export function commandLine(pid: string): string {
  return textOf(pid, 'cmdline');
}

/** The number that its supervisor gave a worker; undefined if it is gone. */
export function numberOf(worker: number): string | undefined {
  return /SERVERENGINE_WORKER_ID=(\d+)/.exec(textOf(String(worker), 'environ'))?.[1];
}

function textOf(pid: string, file: 'cmdline' | 'environ'): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return '';
  }
}

/** The only child of a process. */
export function childOf(pid: number): number {
  return Number.parseInt(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8'), 10);
}

export function parentOf(pid: number): number {
  return Number(/^PPid:\s*(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
}

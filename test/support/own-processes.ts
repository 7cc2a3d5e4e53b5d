import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

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

/** What the processes whose command line names `word` hold open; a deleted file's path ends with " (deleted)". */
export function openPathsNaming(word: string): string[] {
  return processesNaming(word).flatMap((pid) =>
    readdirSync(`/proc/${pid}/fd`).flatMap((fd) => {
      try {
        return readlinkSync(`/proc/${pid}/fd/${fd}`);
      } catch {
        return [];
      }
    }),
  );
}

/** Empty for a zombie and for a process that is gone. */
function commandLine(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return '';
  }
}

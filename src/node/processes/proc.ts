import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import type { ProcessRow } from '../../core/fluentd/processes.ts';

/**
 * The process table from Linux's /proc. `ps` is not in slim images, and busybox's lacks the columns; state and start time
 * stand only here (proc(5), /proc/pid/stat).
 */
export class Proc {
  readonly #root: string;

  constructor(root = '/proc') {
    this.#root = root;
  }

  /** Whether there is a /proc that shows at least this very process. */
  isThere(): boolean {
    return this.read(process.pid) !== undefined;
  }

  list(): readonly ProcessRow[] {
    const pids = readdirSync(this.#root).filter((name) => /^\d+$/.test(name));
    return pids.map((pid) => this.read(Number(pid))).filter((row) => row !== undefined);
  }

  /** undefined: no such process (any more). */
  read(pid: number): ProcessRow | undefined {
    try {
      const stat = readFileSync(`${this.#root}/${pid}/stat`, 'latin1');
      const cmdline = readFileSync(`${this.#root}/${pid}/cmdline`, 'utf8');
      return { pid, ...parseStat(stat), argv: parseCmdline(cmdline) };
    } catch {
      return undefined;
    }
  }
}

/** The environment that a process was started with; undefined: not ours to read. */
export function environmentOf(pid: number): Readonly<Record<string, string>> | undefined {
  try {
    const words = readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0').filter(Boolean);
    return Object.fromEntries(
      words.map((word) => [word.slice(0, word.indexOf('=')), word.slice(word.indexOf('=') + 1)]),
    );
  } catch {
    return undefined;
  }
}

/** undefined: not ours to see. */
export function workingDirectoryOf(pid: number): string | undefined {
  try {
    return readlinkSync(`/proc/${pid}/cwd`);
  } catch {
    return undefined;
  }
}

/** Fields 3, 4, 6 and 22; they begin after the last `)`, since the name in field 2 may hold anything. */
function parseStat(text: string): Pick<ProcessRow, 'ppid' | 'session' | 'startTime' | 'zombie'> {
  const [state, ppid, , session, ...rest] = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return {
    ppid: Number(ppid),
    session: Number(session),
    startTime: rest[15] ?? '',
    zombie: state === 'Z' || state === 'X',
  };
}

/** A title that a process has given itself (setproctitle) is padded with NULs. */
function parseCmdline(text: string): readonly string[] {
  const words = text.replace(/\0+$/, '');
  return words === '' ? [] : words.split('\0');
}

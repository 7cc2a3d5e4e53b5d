import { closeSync, openSync, readdirSync, readFileSync, readlinkSync, readSync, statSync } from 'node:fs';
import type { ProcessRow } from '../../core/progress/fluentd-reading.ts';
import { inPortions, unlessItFails } from '../files/files.ts';
import { isExhaustion } from '../files/in-words.ts';

const KEPT = 4 * 1024;
/** For all command lines together: a neighbour may start thousands of processes. */
const KEPT_IN_ALL = 256 * 1024;
/** For reading a command line. One argument has at most 128 KiB (MAX_ARG_STRLEN in linux/binfmts.h). */
const BUFFER = Buffer.allocUnsafe(256 * 1024);

/** The process table from /proc. Slim images lack `ps`, busybox's lacks the columns, and only /proc has state and start time (proc(5)). */
export async function listProc(root = '/proc'): Promise<readonly ProcessRow[]> {
  const pids = readdirSync(root).filter((name) => /^\d+$/.test(name));
  const most = Math.min(KEPT, Math.floor(KEPT_IN_ALL / pids.length));
  const rows: ProcessRow[] = [];
  await inPortions(pids, (pid) => rows.push(...readProc(Number(pid), { root, most })));
  return rows;
}

/** A process and its children; undefined if the kernel lists none (CONFIG_PROC_CHILDREN). It may miss a child while another ends (proc(5)). */
export function familyInProc(pid: number): readonly ProcessRow[] | undefined {
  return unlessItFails(() => {
    const tasks = `/proc/${pid}/task`;
    const children = readdirSync(tasks).flatMap((task) =>
      readFileSync(`${tasks}/${task}/children`, 'utf8').split(' '),
    );
    return [pid, ...children.filter(Boolean).map(Number)].flatMap((one) => readProc(one));
  });
}

/** Gives nothing for a process that is gone. Throws if the system cannot open a file: then nobody knows whether it is gone. */
export function readProc(pid: number, { root = '/proc', most = KEPT } = {}): readonly ProcessRow[] {
  try {
    const stat = readFileSync(`${root}/${pid}/stat`, 'utf8');
    const cmdline = readBeginning(`${root}/${pid}/cmdline`);
    return [{ pid, ...parseStat(stat), argv: parseCmdline(cmdline, most) }];
  } catch (error) {
    if (isExhaustion(error)) throw error;
    return [];
  }
}

/**
 * The initial environment of a process of the same user; undefined for other users' processes, even if posidle is root. Linux limits it to
 * 6 MiB (execve(2)).
 */
export function environmentOf(pid: number): Readonly<Record<string, string>> | undefined {
  return unlessItFails(() => {
    if (statSync(`/proc/${pid}/environ`).uid !== process.geteuid?.()) return undefined;
    const words = readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0').filter(Boolean);
    return Object.fromEntries(
      words.map((word) => [word.slice(0, word.indexOf('=')), word.slice(word.indexOf('=') + 1)]),
    );
  });
}

export function workingDirectoryOf(pid: number): string | undefined {
  return unlessItFails(() => readlinkSync(`/proc/${pid}/cwd`));
}

/** Fields 3, 4, 6 and 22. They begin after the last `)`, because the name in field 2 may contain anything. */
function parseStat(text: string): Pick<ProcessRow, 'ppid' | 'session' | 'startTime' | 'zombie'> {
  const [state, ppid, , session, ...rest] = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return {
    ppid: Number(ppid),
    session: Number(session),
    startTime: rest[15] ?? '',
    zombie: state === 'Z' || state === 'X',
  };
}

/** Keeps the beginning and the end of a long command line: Java's main class follows the class path, and `--under-supervisor` the text of `-i`. */
function parseCmdline(bytes: Buffer, most: number): readonly string[] {
  // setproctitle pads a title with NULs.
  const whole = bytes.subarray(0, bytes.findLastIndex((byte) => byte !== 0) + 1);
  if (whole.length <= most) return wordsOf(whole);
  const half = Math.floor(most / 2);
  return [...wordsOf(whole.subarray(0, half)), ...wordsOf(whole.subarray(1 - half))];
}

function wordsOf(bytes: Buffer): readonly string[] {
  return bytes.length === 0 ? [] : bytes.toString().split('\0');
}

function readBeginning(path: string): Buffer {
  const file = openSync(path, 'r');
  try {
    return BUFFER.subarray(0, readSync(file, BUFFER, 0, BUFFER.length, 0));
  } finally {
    closeSync(file);
  }
}

import { readdirSync } from 'node:fs';
import type { ProcessIdentity, ProcessRow } from '../../core/progress/fluentd-reading.ts';
import { unlessItFails } from '../files/files.ts';
import { inWords } from '../files/in-words.ts';
import { familyInProc, listProc, readProc } from './proc.ts';

/**
 * Where /proc cannot be read (macOS, or a profile that denies it) posidle uses the `ps` command. It never changes from one to the other:
 * they give the same process different start times.
 */
const HAS_PROC = unlessItFails(() => readdirSync('/proc').length > 0 && readProc(process.pid).length > 0);

/** Rejects if nobody knows which processes there are. Of a family it lists only a process and its children, if the kernel can. */
export async function listProcesses(family?: number): Promise<readonly ProcessRow[]> {
  if (!HAS_PROC) return listByPs().catch(inPlainWords);
  return (family === undefined ? undefined : familyInProc(family)) ?? listProc().catch(inPlainWords);
}

function inPlainWords(error: NodeJS.ErrnoException): never {
  throw new Error(`the processes cannot be looked at: ${inWords(error)}`);
}

type Sent = 'sent' | 'gone' | 'not-permitted';

/** Sends the signal only if the pid is still the same process. Checks that right before. */
export async function signalProcess({ pid, startTime }: ProcessIdentity, signal: string | 0): Promise<Sent> {
  const read = async () => (HAS_PROC ? readProc(pid) : listByPs());
  const rows = await read().catch(inPlainWords);
  const isThere = rows.some((row) => row.pid === pid && row.startTime === startTime && !row.zombie);
  return isThere ? send(pid, signal as NodeJS.Signals | 0) : 'gone';
}

/** kill(2): signal 0 only checks, and a negative pid means a process group. */
export function send(pid: number, signal: NodeJS.Signals | 0): Sent {
  try {
    process.kill(pid, signal);
    return 'sent';
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM' ? 'not-permitted' : 'gone';
  }
}

/** ps shows no start ticks, and joins the words of a command line. */
async function listByPs(): Promise<readonly ProcessRow[]> {
  const { default: psList } = await import('ps-list');
  const rows = await psList();
  return rows.map(({ pid, ppid, cmd, name, startTime }) => ({
    pid,
    ppid,
    session: 0,
    startTime: startTime?.toISOString() ?? '',
    zombie: /<defunct>/.test(cmd ?? ''),
    argv: (cmd ?? name).split(' '),
  }));
}

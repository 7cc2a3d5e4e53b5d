import type { ProcessIdentity, ProcessRow } from '../../core/fluentd/processes.ts';
import { familyInProc, listProc, readProc } from './proc.ts';

/** Where there is none (a developer's macOS), the `ps` command tells of processes. */
const HAS_PROC = readProc(process.pid).length > 0;

export async function listProcesses(): Promise<readonly ProcessRow[]> {
  return HAS_PROC ? listProc() : listByPs();
}

export async function listFamily(pid: number): Promise<readonly ProcessRow[]> {
  return (HAS_PROC ? familyInProc(pid) : undefined) ?? listProcesses();
}

/** Whether the kernel would let this process signal that one. */
export function maySignal(pid: number): boolean {
  return send(pid, 0) !== 'not-permitted';
}

type Sent = 'sent' | 'gone' | 'not-permitted';

/** Sends only where the pid still is the very same process, looked at right before. */
export async function signalProcess({ pid, startTime }: ProcessIdentity, signal: string): Promise<Sent> {
  const rows = HAS_PROC ? readProc(pid) : await listByPs();
  const isThere = rows.some((row) => row.pid === pid && row.startTime === startTime && !row.zombie);
  return isThere ? send(pid, signal as NodeJS.Signals) : 'gone';
}

/** kill(2): 0 only asks whether that could be done; a negative number means the process group. */
export function send(pid: number, signal: NodeJS.Signals | 0): Sent {
  try {
    process.kill(pid, signal);
    return 'sent';
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM' ? 'not-permitted' : 'gone';
  }
}

/** ps knows neither zombies nor start ticks, and puts the words of a command line into one string. */
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

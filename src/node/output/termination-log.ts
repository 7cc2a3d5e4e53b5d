import { constants } from 'node:fs';
import { access, type FileHandle, open } from 'node:fs/promises';
import type { Outcome } from '../../core/drain/outcome.ts';
import type { Listed } from '../../core/progress/describe.ts';
import { printableJson } from '../../core/text/printable.ts';
import { formatDuration, type Millis } from '../../core/text/units.ts';

/** The kubelet takes the first 4 KiB of what stands there (container.terminationMessagePath). */
const USUAL = '/dev/termination-log';
const LIMIT = 4_096;
const TIMEOUT: Millis = 2_000;
/** The file may lie on a volume that others write to: no link is followed, no reader of a FIFO is waited for. */
const FLAGS = constants.O_WRONLY | constants.O_CREAT | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** Leaves the outcome as one JSON line where the kubelet looks for it; by default only where there is such a place. */
export function writeTerminationLog(path: string | undefined, outcome: Outcome): Promise<void> {
  return inTime(path === undefined ? writeUsual(outcome) : write(path, outcome));
}

async function writeUsual(outcome: Outcome): Promise<void> {
  const isWritable = await access(USUAL, constants.W_OK).then(
    () => true,
    () => false,
  );
  if (isWritable) await write(USUAL, outcome);
}

async function write(path: string, outcome: Outcome): Promise<void> {
  const file = await openFile(path);
  try {
    const stat = await file.stat();
    if (!stat.isFile()) throw new Error('it is not a regular file');
    if (stat.nlink > 1) throw new Error('it has another name too (a hard link)');
    await file.truncate();
    await file.writeFile(`${lineOf(outcome)}\n`);
  } finally {
    await file.close();
  }
}

const REFUSALS: Readonly<Record<string, string>> = {
  ELOOP: 'it is a symbolic link',
  ENXIO: 'it is not a regular file',
  EISDIR: 'it is a directory',
};

async function openFile(path: string): Promise<FileHandle> {
  try {
    return await open(path, FLAGS, 0o644);
  } catch (error) {
    const { code = '', message } = error as NodeJS.ErrnoException;
    throw new Error(REFUSALS[code] ?? message);
  }
}

async function inTime(written: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`not written within ${formatDuration(TIMEOUT)}`)), TIMEOUT);
  });
  await Promise.race([written, late]).finally(() => clearTimeout(timer));
}

/** The smallest of what is left and doubted is left out until it fits. */
function lineOf(outcome: Outcome): string {
  const { doubts, left } = outcome;
  const shorter = <One>(list: Listed<One>, count: number) => ({ ...list, worst: list.worst.slice(0, count) });
  for (let count = Math.max(doubts.worst.length, left.worst.length); count >= 0; count -= 1) {
    const line = printableJson({ ...outcome, doubts: shorter(doubts, count), left: shorter(left, count) });
    if (Buffer.byteLength(line) < LIMIT) return line;
  }
  const { version, end, outcome: word, trigger } = outcome;
  return JSON.stringify({ version, end, outcome: word, trigger });
}

import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import type { Outcome } from '../../core/drain/outcome.ts';
import type { Listed } from '../../core/progress/describe.ts';
import { printableJson } from '../../core/text/printable.ts';
import { formatDuration, type Millis } from '../../core/text/units.ts';
import { openUnlinked } from '../files/no-link.ts';

/** The kubelet takes the first 4 KiB of what stands there (container.terminationMessagePath). */
const USUAL = '/dev/termination-log';
const LIMIT = 4_096;
const TIMEOUT: Millis = 2_000;

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
  const file = await openUnlinked(path, constants.O_WRONLY | constants.O_CREAT);
  try {
    await file.truncate();
    await file.writeFile(`${lineOf(outcome)}\n`);
  } finally {
    await file.close();
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

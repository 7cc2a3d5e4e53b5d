import { access, constants, writeFile } from 'node:fs/promises';
import type { Outcome } from '../../core/drain/outcome.ts';

/** The kubelet takes the first 4 KiB of what stands there (container.terminationMessagePath). */
const USUAL = '/dev/termination-log';
const LIMIT = 4_096;

/** Leaves the outcome as one JSON line where the kubelet looks for it; by default only where there is such a place. */
export async function writeTerminationLog(path: string | undefined, outcome: Outcome): Promise<void> {
  if (path === undefined && !(await isWritable(USUAL))) return;
  await writeFile(path ?? USUAL, `${lineOf(outcome)}\n`);
}

/** Long paths are left out, the least behind first, until it fits. */
function lineOf(outcome: Outcome): string {
  const { worst } = outcome.left;
  for (let count = worst.length; count >= 0; count -= 1) {
    const line = JSON.stringify({ ...outcome, left: { ...outcome.left, worst: worst.slice(0, count) } });
    if (Buffer.byteLength(line) < LIMIT) return line;
  }
  const { end, drained, trigger } = outcome;
  return JSON.stringify({ end, drained, trigger });
}

function isWritable(path: string): Promise<boolean> {
  return access(path, constants.W_OK).then(
    () => true,
    () => false,
  );
}

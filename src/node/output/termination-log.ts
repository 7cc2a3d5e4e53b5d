import { constants, existsSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import type { Outcome } from '../../core/drain/outcome.ts';
import type { Listed } from '../../core/progress/describe.ts';
import { printableJson } from '../../core/text/printable.ts';
import { formatDuration, type Millis } from '../../core/text/units.ts';
import { openWithoutLinks } from '../files/safe-write.ts';

/** The default of terminationMessagePath. */
const USUAL = '/dev/termination-log';
/** 12 KiB for all containers of a Pod, init containers too, in equal parts (status_manager.go, normalizeStatus): 2 KiB each for six. */
const LIMIT = 2_048;
const TIMEOUT: Millis = 2_000;

/** Writes the outcome as one JSON line for the kubelet. Without a path it does nothing if the default file is missing. */
export async function writeTerminationLog(path: string | undefined, outcome: Outcome): Promise<void> {
  const isLate = await Promise.race([write(path, lineOf(outcome)), pause(TIMEOUT, true)]);
  if (isLate) throw new Error(`not written within ${formatDuration(TIMEOUT)}`);
}

async function write(path: string | undefined, line: string): Promise<void> {
  const place = path ?? (existsSync(USUAL) ? USUAL : undefined);
  if (place === undefined) return;
  await using file = await openWithoutLinks(place, constants.O_WRONLY | constants.O_CREAT);
  await file.truncate();
  await file.writeFile(`${line}\n`);
}

/** Drops the smallest items of `left` and `doubts`, and then the outputs, until the line fits. */
function lineOf(outcome: Outcome): string {
  const { doubts, left } = outcome;
  const shorter = <One>(list: Listed<One>, count: number) => ({ ...list, worst: list.worst.slice(0, count) });
  for (const outputs of [outcome.outputs, []])
    for (let count = Math.max(doubts.worst.length, left.worst.length); count >= 0; count -= 1) {
      const lists = { outputs, doubts: shorter(doubts, count), left: shorter(left, count) };
      const line = printableJson({ ...outcome, ...lists });
      if (Buffer.byteLength(line) < LIMIT) return line;
    }
  const { version, end, outcome: word, trigger } = outcome;
  return JSON.stringify({ version, end, outcome: word, trigger });
}

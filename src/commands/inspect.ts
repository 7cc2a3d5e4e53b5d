import { setTimeout as pause } from 'node:timers/promises';
import { EXIT } from '../core/drain/outcome.ts';
import { type Found, lostIn } from '../core/inspect/found.ts';
import { jsonOf } from '../core/inspect/inspection.ts';
import { Rates } from '../core/inspect/rates.ts';
import { check, summaryOf } from '../core/inspect/summary.ts';
import { describeDoubts, describeLeft, listed } from '../core/progress/describe.ts';
import { printable } from '../core/text/printable.ts';
import { formatDuration, LONGEST_TIMER, type Millis } from '../core/text/units.ts';
import { exists } from '../node/files/files.ts';
import { NodeHost } from '../node/node-host.ts';
import { canDraw, drawAll, widthOfStdout, write, writeLines } from '../node/output/terminal.ts';
import { inTime } from '../tasks/in-time.ts';
import { type Inspect, inspector, inspectSubject } from '../tasks/inspect.ts';
import { CommandError } from '../tasks/usage-error.ts';
import { growHeapSlowly } from './heap.ts';
import { frameOf } from './inspect-view/follow-frame.ts';
import { tableLines } from './inspect-view/table.ts';
import type { InspectArgs } from './options/inspect-options.ts';

const FAILED = 1;
/** A path has a slash, or a name with a dot. */
const LIKE_A_POD = /^[a-z0-9][a-z0-9-]*$/;
/** For the look that has begun when the wait is over: there may be very many files. */
const HEAD_START: Millis = 3_000;
const OVERDUE =
  'no look has ended in time: there are very many files, the machine is very busy, or a mount does not answer';

export async function runInspect(args: InspectArgs): Promise<number> {
  growHeapSlowly();
  // If a signal ends the wait.
  if (args.wait !== undefined) process.exitCode = FAILED;
  const { 'pos-file': posFiles = [], 'fluent-conf': fluentConf, root, json } = args;
  // POSIDLE_WITNESS=off is meant for `watch`.
  const witness = args.witness === 'off' ? undefined : args.witness;
  const host = new NodeHost(root);
  const subject = await inTime(inspectSubject(host, { posFiles, fluentConf, root, witness }), FAILED);
  const { conf, warnings, confPath } = subject;
  if (subject.posFiles.length === 0 && witness === undefined && !json) {
    await writeLines([printable(`${confPath} has no in_tail source: nothing to inspect`)]);
    return EXIT.ok;
  }
  for (const word of posFiles)
    if (LIKE_A_POD.test(word) && !(await exists(word)))
      process.stderr.write(
        `posidle: there is no file ${word}. For a Pod: kubectl posidle inspect ${word} (kubectl finds this program in the PATH as kubectl-posidle)\n`,
      );
  const view = { width: widthOfStdout(), conf, notes: warnings };
  const isRepeated = args.follow || args.wait !== undefined;
  const inspect = inspector(host, subject, isRepeated ? new Rates() : undefined);
  if (args.follow) return await follow(inspect, args);
  const { found, passed, reason } = await look(inspect, args);
  const lines = json ? [jsonOf(found)] : reason ? [printable(reason)] : tableLines(found, view);
  // Set before the write, because a reader that closes the pipe ends the process.
  process.exitCode = passed ? EXIT.ok : FAILED;
  await writeLines(lines);
  return process.exitCode;
}

/** `reason`: a line that replaces the table. */
async function look(inspect: Inspect, args: InspectArgs) {
  const { wait, 'max-lag': most } = args;
  if (wait !== undefined) return await Promise.race([waitUntilRead(inspect, wait, args), overdue(wait)]);
  const found = await inspect();
  return most === undefined
    ? { found, passed: isEverythingReadable(found), reason: undefined }
    : { found, ...check(found, most) };
}

async function waitUntilRead(inspect: Inspect, atMost: Millis, { interval }: InspectArgs) {
  const start = performance.now();
  for (;;) {
    const found = await inspect();
    const why = found.waitsFor;
    const spent = performance.now() - start;
    if (why === undefined || spent >= atMost) {
      const left = why === undefined ? '' : `; ${why}`;
      const reason = `${summaryOf(found)}, after ${formatDuration(spent)}${left}${lossOf(found)}`;
      return { found, passed: why === undefined, reason };
    }
    await pause(Math.min(interval, atMost - spent));
  }
}

async function overdue(wait: Millis): Promise<never> {
  await pause(Math.min(wait + HEAD_START, LONGEST_TIMER), undefined, { ref: false });
  throw new CommandError(OVERDUE, FAILED);
}

/** What waiting does not help. */
function lossOf({ seen }: Found): string {
  const { left, doubts } = lostIn(seen);
  const told = left.length === 0 ? '' : `; left unread: ${describeLeft(listed(left))}`;
  return told + (doubts.length === 0 ? '' : `; doubted: ${describeDoubts(listed(doubts))}`);
}

/** Draws until a signal ends it. Without a terminal it prints a line at each change. */
async function follow(inspect: Inspect, { json, interval }: InspectArgs): Promise<never> {
  for (let before = ''; ; await pause(interval)) {
    const found = await inspect();
    if (!json && canDraw()) {
      await drawAll((size) => frameOf(found, { ...size, at: new Date() }));
      continue;
    }
    const line = json ? jsonOf(found) : summaryOf(found);
    // An age changes at each look.
    const news = line.replaceAll(/"oldestUnreadMs":\d+/g, '');
    if (news !== before) await write(`${json ? '' : `${new Date().toISOString()} `}${line}\n`);
    before = news;
  }
}

/** An empty pos file counts as readable. */
function isEverythingReadable({ posFiles }: Found): boolean {
  return posFiles.every(
    ({ error, isEmpty, troubles }) => (error === undefined || isEmpty) && troubles.length === 0,
  );
}

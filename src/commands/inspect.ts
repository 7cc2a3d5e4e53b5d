import { setTimeout as pause } from 'node:timers/promises';
import { EXIT } from '../core/drain/outcome.ts';
import type { Found } from '../core/inspect/found.ts';
import { Paces } from '../core/inspect/paces.ts';
import { check, summaryOf } from '../core/inspect/summary.ts';
import { describeDoubts, listed } from '../core/progress/describe.ts';
import { printable } from '../core/text/printable.ts';
import { formatDuration, type Millis } from '../core/text/units.ts';
import { NodeHost } from '../node/node-host.ts';
import { widthOfStdout, write } from '../node/output/terminal.ts';
import { Inspector, type InspectSubject, inspectSubject, STDIN } from '../tasks/inspect.ts';
import { UsageError } from '../tasks/usage-error.ts';
import { follow } from './inspect-view/follow.ts';
import { jsonOf } from './inspect-view/json.ts';
import { tableLines, type View } from './inspect-view/table.ts';
import { INTERVAL, type InspectArgs } from './options/inspect-options.ts';
import { unknownVariables } from './start-warnings.ts';

/** The check failed, or something could not be looked at. */
const FAILED = 1;

/** `posidle inspect`: what is read, what is left. Resolves to the exit code. */
export async function runInspect(args: InspectArgs): Promise<number> {
  refuseContradictions(args);
  const { 'pos-file': posFiles = [], 'fluent-conf': fluentConf, root, witness } = args;
  const host = new NodeHost(root);
  const wanted = { posFiles, fluentConf, root, witness };
  const subject = await inspectSubject(host, wanted);
  const view = viewOf(args, subject);
  if (args.follow) return await follow({ host, subject, view, args });
  const { found, passed, reason } = await look(host, subject, args);
  const asked = args.json || reason === undefined ? linesOf(found, view, args) : [printable(reason)];
  // First, for whoever reads may close the pipe at once.
  process.exitCode = passed ? EXIT.ok : FAILED;
  await write(asked.map((line) => `${line}\n`).join(''));
  return process.exitCode;
}

interface Looked {
  readonly found: Found;
  readonly passed: boolean;
  /** One line in the place of the table. */
  readonly reason?: string;
}

async function look(host: NodeHost, subject: InspectSubject, args: InspectArgs): Promise<Looked> {
  const { wait, 'max-lag': most = args.check ? 0 : undefined } = args;
  if (wait !== undefined) return await waitUntilRead(new Inspector(host, subject, new Paces()), wait, args);
  const found = await new Inspector(host, subject).look();
  return most === undefined ? { found, passed: isWhole(found) } : { found, ...check(found, most) };
}

/** Looks until nothing is left that waiting helps, or the time is over. */
async function waitUntilRead(
  inspector: Inspector,
  atMost: Millis,
  { interval = INTERVAL }: InspectArgs,
): Promise<Looked> {
  // A signal is no success.
  process.exitCode = FAILED;
  const start = performance.now();
  for (;;) {
    const found = await inspector.look();
    const why = found.waitsFor;
    const spent = performance.now() - start;
    if (why === undefined || spent >= atMost) {
      const left = why === undefined ? '' : `; ${why}`;
      const reason = `${summaryOf(found)}, after ${formatDuration(spent)}${left}${lostIn(found)}`;
      return { found, passed: why === undefined, reason };
    }
    await pause(Math.min(interval, atMost - spent));
  }
}

/** Waiting no longer helps these. */
function lostIn({ progress }: Found): string {
  const doubts = progress.doubts.filter(({ kind }) => kind === 'closed-unread');
  return doubts.length === 0 ? '' : `; not proven: ${describeDoubts(listed(doubts))}`;
}

function refuseContradictions(args: InspectArgs): void {
  const checks = args['max-lag'] !== undefined || !args.check ? 'max-lag' : 'check';
  const given = (['follow', checks, 'wait'] as const).filter(
    (name) => args[name] !== undefined && args[name] !== false,
  );
  if (given.length > 1) throw new UsageError(`--${given.join(' and --')}: give only one of them`);
  const isRepeated = args.follow ? '--follow' : args.wait !== undefined && '--wait';
  if (isRepeated && args['pos-file']?.includes(STDIN))
    throw new UsageError(`${isRepeated}: what comes through stdin can be read only once; name the pos file`);
}

function withoutEffect({ interval, follow, wait }: InspectArgs): readonly string[] {
  const isIgnored = interval !== undefined && !follow && wait === undefined;
  return isIgnored ? ['--interval has no effect without --follow or --wait'] : [];
}

function viewOf(args: InspectArgs, { conf, warnings }: InspectSubject): View {
  return {
    width: widthOfStdout(),
    conf,
    notes: [...unknownVariables(process.env), ...withoutEffect(args), ...warnings],
    states: args.state,
    folds: process.stdout.isTTY === true && args.state === undefined,
  };
}

function linesOf(found: Found, view: View, { json }: InspectArgs): readonly string[] {
  return json ? [jsonOf(found, view.states)] : tableLines(found, view);
}

/** An empty pos file is no failure. */
function isWhole({ posFiles }: Found): boolean {
  return posFiles.every(
    ({ error, isEmpty, troubles }) => (error === undefined || isEmpty) && troubles.length === 0,
  );
}

import { EXIT } from '../core/drain/outcome.ts';
import { type Checked, check } from '../core/inspect/check.ts';
import type { Found } from '../core/inspect/found.ts';
import { Paces } from '../core/inspect/paces.ts';
import { describeDoubts, listed } from '../core/progress/describe.ts';
import { printable } from '../core/text/printable.ts';
import { NodeHost } from '../node/node-host.ts';
import { ProgressLine, widthOfStdout, writeAll } from '../node/output/terminal.ts';
import { Inspector } from '../tasks/inspect-look.ts';
import { type InspectSubject, inspectSubject, STDIN } from '../tasks/inspect-subject.ts';
import { UsageError } from '../tasks/usage-error.ts';
import { follow } from './inspect-view/follow.ts';
import { jsonParts, ndjsonLines } from './inspect-view/json.ts';
import { isColored, styleOf } from './inspect-view/style.ts';
import { tableLines, type View } from './inspect-view/table.ts';
import { waitUntilRead } from './inspect-view/wait.ts';
import { inFlags } from './options/flag-wording.ts';
import { INTERVAL, type InspectArgs } from './options/inspect-options.ts';
import { unknownVariables } from './start-warnings.ts';

/** The check failed, or something could not be looked at. */
const FAILED = 1;

/** `posidle inspect`: what is read, what is left. Resolves to the exit code. */
export async function runInspect(args: InspectArgs): Promise<number> {
  refuseContradictions(args);
  const { 'pos-file': posFiles = [], 'fluent-conf': fluentConf, raw, root, witness } = args;
  const host = new NodeHost(root);
  const wanted = { posFiles, fluentConf, raw, root, witness, nameOptions: inFlags };
  const subject = await inspectSubject(host, wanted);
  const view = viewOf(args, subject);
  if (args.follow) return await follow({ host, subject, view, args });
  const { code, texts } = await answerOf(host, subject, view, args);
  // First, for whoever reads may close the pipe at once.
  process.exitCode = code;
  await writeAll(texts);
  return code;
}

interface Answer {
  readonly code: number;
  readonly texts: Iterable<string>;
}

async function answerOf(
  host: NodeHost,
  subject: InspectSubject,
  view: View,
  args: InspectArgs,
): Promise<Answer> {
  const { wait, interval = INTERVAL } = args;
  if (wait !== undefined) {
    const inspector = new Inspector(host, subject, new Paces());
    const { found, ...checked } = await waitUntilRead(inspector, { interval, atMost: wait });
    return answer({ ...checked, reason: checked.reason + lostIn(found) }, found, view, args);
  }
  const found = await lookOnce(new Inspector(host, subject));
  if (!args.check) return { code: codeOfLook(found), texts: partsOf(found, view, args) };
  const limits = { lag: args['max-lag'], age: args['max-age'] };
  return answer(withFindings(check(found, limits), found), found, view, args);
}

/** Waiting no longer helps these. */
function lostIn({ judged }: Found): string {
  const doubts = (judged?.progress.doubts ?? []).filter(({ kind }) => kind === 'closed-unread');
  return doubts.length === 0 ? '' : `; not proven: ${describeDoubts(listed(doubts))}`;
}

/** They are told, and fail no check: dead lines stay in the pos file when what made them has long been mended. */
function withFindings({ passed, reason }: Checked, { posFiles }: Found): Checked {
  const findings = posFiles.flatMap(({ path, findings }) => findings.map(({ why }) => `; ${path}: ${why}`));
  return { passed, reason: reason + findings.join('') };
}

function answer({ passed, reason }: Checked, found: Found, view: View, args: InspectArgs): Answer {
  const texts = args.json || args.ndjson ? partsOf(found, view, args) : ended([printable(reason)]);
  return { code: passed ? EXIT.ok : FAILED, texts };
}

const EXCLUSIVE: readonly (readonly (keyof InspectArgs)[])[] = [
  ['json', 'ndjson'],
  ['raw', 'follow'],
  ['raw', 'check'],
  ['follow', 'check'],
  ['follow', 'wait'],
  ['raw', 'wait'],
  ['check', 'wait'],
  ['witness', 'raw'],
];

function refuseContradictions(args: InspectArgs): void {
  for (const group of EXCLUSIVE) {
    const given = group.filter((name) => args[name] !== undefined && args[name] !== false);
    if (given.length > 1) throw new UsageError(`--${given.join(' and --')}: give only one of them`);
  }
  const hasLimit = args['max-lag'] !== undefined || args['max-age'] !== undefined;
  if (hasLimit !== (args.check === true))
    throw new UsageError(
      '--check: give it with --max-lag or --max-age, and these with it; --wait takes none',
    );
  if (args.raw && args.state !== undefined)
    throw new UsageError(
      '--raw and --state: where no log file is looked at, an entry has no state; give only one of them',
    );
  const isRepeated = args.follow ? '--follow' : args.wait !== undefined && '--wait';
  if (isRepeated && args['pos-file']?.includes(STDIN))
    throw new UsageError(`${isRepeated}: what comes through stdin can be read only once; name the pos file`);
}

function withoutEffect({ interval, follow, wait }: InspectArgs): readonly string[] {
  const isIgnored = interval !== undefined && !follow && wait === undefined;
  return isIgnored ? ['--interval has no effect without --follow or --wait'] : [];
}

function viewOf(args: InspectArgs, { raw, conf, warnings }: InspectSubject): View {
  const isTable = !args.json && !args.ndjson;
  return {
    style: styleOf(isColored(args.color)),
    width: widthOfStdout(),
    raw,
    conf,
    notes: [...unknownVariables(process.env), ...withoutEffect(args), ...warnings],
    states: args.state,
    sort: args.sort ?? (isTable && !raw ? 'lag' : undefined),
    folds: process.stdout.isTTY === true && !raw && args.sort === undefined && args.state === undefined,
  };
}

async function lookOnce(inspector: Inspector): Promise<Found> {
  const progress = new ProgressLine();
  inspector.onProgress = (text, isLong) => progress.tell(text, isLong);
  const found = await inspector.look();
  progress.wipe();
  return found;
}

function partsOf(found: Found, view: View, args: InspectArgs): Iterable<string> {
  if (args.json) return jsonParts(found, view);
  if (args.ndjson) return ended(ndjsonLines(found, view));
  return ended(tableLines(found, view));
}

function* ended(lines: Iterable<string>): Generator<string> {
  for (const line of lines) yield `${line}\n`;
}

/** An empty pos file is no failure. */
function codeOfLook({ posFiles }: Found): number {
  const isWhole = posFiles.every(
    ({ error, isEmpty, troubles }) => (error === undefined || isEmpty) && troubles.length === 0,
  );
  return isWhole ? EXIT.ok : FAILED;
}

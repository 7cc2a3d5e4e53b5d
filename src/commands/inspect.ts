import { EXIT } from '../core/drain/outcome.ts';
import { type Checked, check, type Limits } from '../core/inspect/check.ts';
import { History } from '../core/inspect/history.ts';
import type { Overview } from '../core/inspect/overview.ts';
import { printable } from '../core/text/printable.ts';
import type { Testimony } from '../core/witness/testimony.ts';
import { NodeHost } from '../node/node-host.ts';
import { ProgressLine, widthOfStdout, writeAll } from '../node/output/terminal.ts';
import { Inspector } from '../tasks/inspect-look.ts';
import { type InspectSubject, inspectSubject, STDIN } from '../tasks/inspect-subject.ts';
import { UsageError } from '../tasks/usage-error.ts';
import { follow } from './inspect-view/follow.ts';
import { jsonParts, ndjsonLines } from './inspect-view/json.ts';
import { plainLines } from './inspect-view/plain.ts';
import { isColored, styleOf } from './inspect-view/style.ts';
import { tableLines, type View } from './inspect-view/table.ts';
import { leftLines, waitUntilRead } from './inspect-view/wait.ts';
import { witnessFacts, witnessLines } from './inspect-view/witness-lines.ts';
import { inFlags } from './options/flag-wording.ts';
import type { InspectArgs } from './options/inspect-options.ts';
import { unknownVariables } from './start-warnings.ts';

/** The check failed, or something could not be looked at. */
const FAILED = 1;

/** `posidle inspect`: what is read, what is left. Resolves to the exit code. */
export async function runInspect(args: InspectArgs): Promise<number> {
  refuseContradictions(args);
  const { 'pos-file': posFiles = [], 'fluent-conf': fluentConf, raw, root } = args;
  const host = new NodeHost(root);
  const wanted = { posFiles, fluentConf, raw, root, nameOptions: inFlags };
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
  const { wait, interval } = args;
  const limits = limitsOf(args);
  if (wait !== undefined) {
    const inspector = new Inspector(host, subject, new History());
    const { found, ...checked } = await waitUntilRead(inspector, { limits, interval, atMost: wait });
    return answer(checked, found, { view, args, more: checked.passed ? [] : leftLines(found) });
  }
  const found = await lookOnce(new Inspector(host, subject));
  if (args.check) return answer(withFindings(check(found, limits), found), found, { view, args, more: [] });
  const testimony = args.witness === undefined ? undefined : await host.askWitnesses(args.witness);
  return { code: codeOfLook(found), texts: partsOf(found, view, args, testimony) };
}

/** They are told, and fail no check: dead lines stay in the pos file when what made them has long been mended. */
function withFindings({ passed, reason }: Checked, { posFiles }: Overview): Checked {
  const findings = posFiles.flatMap(({ path, findings = [] }) =>
    findings.map(({ why }) => `; ${path}: ${why}`),
  );
  return { passed, reason: reason + findings.join('') };
}

function limitsOf(args: InspectArgs): Limits {
  const { 'max-lag': lag, 'max-age': age } = args;
  return { lag: lag ?? (age === undefined ? 0 : undefined), age };
}

interface Answered {
  readonly view: View;
  readonly args: InspectArgs;
  /** Lines below the reason. */
  readonly more: readonly string[];
}

function answer({ passed, reason }: Checked, found: Overview, { view, args, more }: Answered): Answer {
  const isForProgram = args.json || args.ndjson;
  const texts = isForProgram ? partsOf(found, view, args) : ended([printable(reason), ...more]);
  return { code: passed ? EXIT.ok : FAILED, texts };
}

const EXCLUSIVE: readonly (readonly (keyof InspectArgs)[])[] = [
  ['json', 'ndjson', 'plain'],
  ['raw', 'follow'],
  ['raw', 'check'],
  ['follow', 'check'],
  ['follow', 'wait'],
  ['raw', 'wait'],
  ['witness', 'raw'],
  ['witness', 'follow'],
  ['witness', 'wait'],
  ['witness', 'check'],
  ['witness', 'ndjson'],
];

function refuseContradictions(args: InspectArgs): void {
  for (const group of EXCLUSIVE) {
    const given = group.filter((name) => args[name] !== undefined && args[name] !== false);
    if (given.length > 1) throw new UsageError(`--${given.join(' and --')}: give only one of them`);
  }
  for (const name of ['max-lag', 'max-age'] as const)
    if (args[name] !== undefined && !args.check && args.wait === undefined)
      throw new UsageError(
        `--${name}: it is a limit for --check and --wait; add one of them, or leave it out`,
      );
  if (args.check && args['max-lag'] === undefined && args['max-age'] === undefined)
    throw new UsageError('--check: it needs a limit; add --max-lag or --max-age, or take --wait instead');
  if (args.raw && args.state !== undefined)
    throw new UsageError(
      '--raw and --state: where no log file is looked at, an entry has no state; give only one of them',
    );
  const isRepeated = args.follow ? '--follow' : args.wait !== undefined && '--wait';
  if (isRepeated && args['pos-file']?.includes(STDIN))
    throw new UsageError(`${isRepeated}: what comes through stdin can be read only once; name the pos file`);
}

function viewOf(args: InspectArgs, { raw, conf, warnings }: InspectSubject): View {
  const isTable = !args.json && !args.ndjson;
  return {
    style: styleOf(isColored(args.color) && !args.plain),
    width: args.plain ? undefined : widthOfStdout(),
    raw,
    conf,
    notes: [...unknownVariables(process.env), ...warnings],
    states: args.state,
    sort: args.sort ?? (isTable && !raw ? 'lag' : undefined),
    folds: process.stdout.isTTY === true && !raw && args.sort === undefined && args.state === undefined,
  };
}

async function lookOnce(inspector: Inspector): Promise<Overview> {
  const progress = new ProgressLine();
  inspector.onProgress = (text, isLong) => progress.tell(text, isLong);
  const found = await inspector.look();
  progress.wipe();
  return found;
}

function partsOf(found: Overview, view: View, args: InspectArgs, testimony?: Testimony): Iterable<string> {
  if (args.json) return jsonParts(found, view, testimony && { witness: witnessFacts(testimony) });
  if (args.ndjson) return ended(ndjsonLines(found, view));
  const more = testimony === undefined ? [] : ['', ...witnessLines(testimony, args.witness ?? '')];
  return ended(chain(args.plain ? plainLines(found, view) : tableLines(found, view), more));
}

function* chain(first: Iterable<string>, second: Iterable<string>): Generator<string> {
  yield* first;
  yield* second;
}

function* ended(lines: Iterable<string>): Generator<string> {
  for (const line of lines) yield `${line}\n`;
}

/** An empty pos file is no failure. */
function codeOfLook({ posFiles }: Overview): number {
  const isWhole = posFiles.every(
    ({ error, empty, troubles }) => (error === undefined || empty) && troubles.length === 0,
  );
  return isWhole ? EXIT.ok : FAILED;
}

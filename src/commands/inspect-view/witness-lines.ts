import type { Found } from '../../core/inspect/found.ts';
import { describeDoubts, describeLeft, describeReceipt, listed } from '../../core/progress/describe.ts';
import { printable } from '../../core/text/printable.ts';
import { counted, formatBytes } from '../../core/text/units.ts';
import { type FileReport, nameOf, type OutputReport } from '../../core/witness/answer.ts';

/** The witnesses' answers, for people: a line for each file and output, then what is left and doubted. */
export function* witnessLines({ seen }: Found): Generator<string> {
  const { reports, progress } = seen;
  if (reports === undefined) return;
  const { witnesses } = reports;
  if (witnesses.length === 0)
    yield 'no witness there: Fluentd has not started yet, or does not load it (posidle witness prints what it needs)';
  for (const one of witnesses) {
    if (one.kind === 'alive') {
      const { pid, lines } = one.report;
      yield `Fluentd itself, worker ${pid}${lines === undefined ? '' : `: ${counted(lines, 'line')} read`}`;
      for (const file of one.report.files) yield `  ${printable(fileLine(file))}`;
      for (const output of one.report.outputs) yield `  ${printable(outputLine(output))}`;
    } else
      yield `${printable(one.worker)}: ${one.kind === 'silent' ? printable(one.why) : 'the worker is gone'}`;
  }
  const { left, doubts } = progress;
  yield left.length === 0 ? 'nothing is left' : `left: ${printable(describeLeft(listed(left)))}`;
  if (doubts.length > 0) yield `doubted: ${printable(describeDoubts(listed(doubts)))}`;
}

/** What each output holds and has done with its records, the one that holds most first. */
export function outputLines({ seen: { reports } }: Found): readonly string[] {
  const outputs = (reports?.witnesses ?? []).flatMap((one) =>
    one.kind === 'alive' ? one.report.outputs : [],
  );
  return outputs.toSorted((a, b) => b.bytes - a.bytes).map((output) => printable(outputLine(output)));
}

function fileLine({ path, position, size, unfinished }: FileReport): string {
  const left = size === undefined ? undefined : size - position;
  const rest =
    left === undefined ? 'the file is not there' : left === 0 ? 'read' : `${formatBytes(left)} left`;
  return `${path}: ${rest}${unfinished > 0 ? ', an unfinished last line' : ''} (position ${position})`;
}

function outputLine(output: OutputReport): string {
  const { chunks, bytes, isRetrying, receipt } = output;
  const held = chunks === 0 ? 'holds nothing' : `holds ${counted(chunks, 'chunk')} (${formatBytes(bytes)})`;
  const records = describeReceipt({ output: '', ...receipt });
  return `${nameOf(output)}: ${held}${isRetrying ? ', and retries' : ''}${records === '' ? '' : `; ${records}`}`;
}

import type { Found } from '../../core/inspect/found.ts';
import { describeDoubts, describeLeft, listed } from '../../core/progress/describe.ts';
import { printable } from '../../core/text/printable.ts';
import { counted, formatBytes } from '../../core/text/units.ts';
import type { FileSight, OutputSight } from '../../core/witness/answer.ts';
import type { Testimony } from '../../core/witness/testimony.ts';

/** What Fluentd itself says, for people: a line a file and an output, and what it comes to. */
export function* witnessLines({ judged }: Found): Generator<string> {
  const witness = judged?.seen.witness;
  if (judged === undefined || witness === undefined) return;
  const { witnesses } = witness.testimony;
  if (witnesses.length === 0)
    yield 'no witness there: posidle witness writes it, and prints what the container of Fluentd needs';
  for (const one of witnesses) {
    if (one.kind === 'alive') {
      yield `Fluentd itself, worker ${one.said.pid}`;
      for (const file of one.said.files) yield `  ${printable(fileLine(file))}`;
      for (const output of one.said.outputs) yield `  ${printable(outputLine(output))}`;
    } else
      yield `${printable(one.worker)}: ${one.kind === 'silent' ? printable(one.why) : 'the worker is gone'}`;
  }
  const { left, doubts } = judged.progress;
  yield left.length === 0 ? 'nothing is left' : `left: ${printable(describeLeft(listed(left)))}`;
  if (doubts.length > 0) yield `not proven: ${printable(describeDoubts(listed(doubts)))}`;
}

/** The same for a program. */
export function witnessFacts({ witnesses }: Testimony): object {
  const workers = witnesses.map((one) => {
    const { worker, kind } = one;
    if (one.kind !== 'alive') return { worker, kind };
    const { pid, files, outputs } = one.said;
    return { worker, kind, pid, files, outputs };
  });
  return { workers };
}

function fileLine({ path, position, size, unfinished }: FileSight): string {
  const left = size === undefined ? undefined : size - position;
  const rest =
    left === undefined ? 'the file is not there' : left === 0 ? 'read' : `${formatBytes(left)} left`;
  return `${path}: ${rest}${unfinished > 0 ? ', an unfinished last line' : ''} (position ${position})`;
}

function outputLine({ id, class: name, chunks, bytes, isRetrying }: OutputSight): string {
  const held = chunks === 0 ? 'holds nothing' : `holds ${counted(chunks, 'chunk')} (${formatBytes(bytes)})`;
  return `${id} (${name}): ${held}${isRetrying ? ', and retries' : ''}`;
}

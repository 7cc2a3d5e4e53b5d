import { describeDoubts, describeLeft, listed } from '../../core/progress/describe.ts';
import { verdictOf } from '../../core/progress/verdict.ts';
import { printable } from '../../core/text/printable.ts';
import { counted, formatBytes } from '../../core/text/units.ts';
import type { FileSight, OutputSight } from '../../core/witness/answer.ts';
import { ofTestimony, type Testimony } from '../../core/witness/testimony.ts';

/** What Fluentd itself says, for people: a line a file and an output, and what it comes to. */
export function* witnessLines(testimony: Testimony, dir: string): Generator<string> {
  if (testimony.witnesses.length === 0) {
    yield `no witness in ${printable(dir)}: posidle witness ${printable(dir)} writes it there, and prints what Fluentd's container needs`;
    return;
  }
  for (const witness of testimony.witnesses) {
    if (witness.kind === 'alive') {
      yield `Fluentd itself, worker ${witness.said.pid}`;
      for (const file of witness.said.files) yield `  ${printable(fileLine(file))}`;
      for (const output of witness.said.outputs) yield `  ${printable(outputLine(output))}`;
    } else
      yield `${printable(witness.worker)}: ${witness.kind === 'silent' ? printable(witness.why) : 'the worker is gone'}`;
  }
  const { left, doubts } = verdictOf(ofTestimony(testimony), undefined, 'runs-on');
  yield left.length === 0 ? 'nothing is left' : `left: ${printable(describeLeft(listed(left)))}`;
  if (doubts.length > 0) yield `not proven: ${printable(describeDoubts(listed(doubts)))}`;
}

/** The same for a program. */
export function witnessFacts(testimony: Testimony): object {
  const { left, doubts } = verdictOf(ofTestimony(testimony), undefined, 'runs-on');
  const workers = testimony.witnesses.map((one) => {
    const { worker, kind } = one;
    if (one.kind !== 'alive') return { worker, kind };
    const { pid, files, outputs } = one.said;
    return { worker, kind, pid, files, outputs };
  });
  return { workers, left, doubts };
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

import type { Found } from '../../core/inspect/found.ts';
import { entryOf, inspectionOf } from '../../core/inspect/inspection.ts';
import { ordered, type Which } from '../../core/inspect/order.ts';
import { printableJson } from '../../core/text/printable.ts';
import { witnessFacts } from './witness-lines.ts';

/** One JSON object, in parts: the entries of a thousand pos files are longer than a string may be. */
export function* jsonParts(found: Found, which: Which): Generator<string> {
  const { posFiles, ...rest } = inspectionOf(found, which);
  const witness = found.judged?.seen.witness;
  yield '{"posFiles":[';
  for (const [index, posFile] of posFiles.entries()) yield (index === 0 ? '' : ',') + printableJson(posFile);
  yield `],${printableJson({ ...rest, ...(witness && { witness: witnessFacts(witness.testimony) }) }).slice(1)}\n`;
}

/** An entry a line, for logs and jq; what cannot be shown as an entry has a line of its own. */
export function* ndjsonLines(found: Found, which: Which): Generator<string> {
  for (const { path: posFile, files, unparsable, error } of found.posFiles) {
    for (const file of ordered(files, which)) yield printableJson({ posFile, ...entryOf(file, found) });
    for (const line of unparsable) yield printableJson({ posFile, unparsable: line });
    if (error !== undefined) yield printableJson({ posFile, error });
  }
  for (const file of ordered(found.undiscovered, which)) yield printableJson(entryOf(file, found));
}

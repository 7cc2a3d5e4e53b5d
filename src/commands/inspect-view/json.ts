import {
  aboutOf,
  type InspectedEntry,
  type InspectedPosFile,
  inspectionOf,
} from '../../core/inspect/inspection.ts';
import { undiscoveredOf, type Which } from '../../core/inspect/order.ts';
import type { Overview } from '../../core/inspect/overview.ts';
import { printableJson } from '../../core/text/printable.ts';
import { inGroups } from './groups.ts';

/** One JSON object, in parts: a million entries are longer than a string may be. An entry a line. */
export function* jsonParts(found: Overview, which: Which, more: object = {}): Generator<string> {
  const { posFiles, undiscovered, ...sums } = inspectionOf(found, which);
  yield '{\n  "posFiles": [';
  for (const [index, posFile] of posFiles.entries()) {
    yield index === 0 ? '\n' : ',\n';
    yield* posFileParts(posFile);
  }
  yield posFiles.length === 0 ? '],\n' : '\n  ],\n';
  yield `  "undiscovered": ${listed(undiscovered, '  ')},\n`;
  const lines = Object.entries({ ...sums, ...more }).map(
    ([name, value]) => `  "${name}": ${printableJson(value)}`,
  );
  yield `${lines.join(',\n')}\n}\n`;
}

function* posFileParts({
  path,
  entries,
  unparsable,
  findings,
  error,
}: InspectedPosFile<Iterable<InspectedEntry>>) {
  yield `    {\n      "path": ${printableJson(path)},\n      "entries": [`;
  let separator = '\n';
  for (const group of inGroups(entries)) {
    yield separator + group.map((entry) => `        ${printableJson(entry)}`).join(',\n');
    separator = ',\n';
  }
  yield separator === '\n' ? ']' : '\n      ]';
  yield `,\n      "unparsable": ${listed(unparsable, '      ')}`;
  if (findings !== undefined) yield `,\n      "findings": ${listed(findings, '      ')}`;
  yield error === undefined ? '\n    }' : `,\n      "error": ${printableJson(error)}\n    }`;
}

/** An entry a line, for logs and jq; what cannot be shown as an entry has a line of its own. */
export function* ndjsonLines(found: Overview, which: Which): Generator<string> {
  for (const { path: posFile, entries, unparsable, error } of inspectionOf(found, which).posFiles) {
    for (const entry of entries) yield printableJson({ posFile, ...entry });
    for (const line of unparsable) yield printableJson({ posFile, unparsable: line });
    if (error !== undefined) yield printableJson({ posFile, error });
  }
  for (const file of undiscoveredOf(found, which)) {
    const { posFile, path, size } = file;
    const entry = {
      ...{ path, position: null, inode: null, size, lag: size, state: 'undiscovered' },
      ...aboutOf(path, found.verdictOf?.(file)),
    };
    yield printableJson({ posFile, ...entry });
  }
}

function listed(values: readonly unknown[], indent: string): string {
  if (values.length === 0) return '[]';
  return `[\n${values.map((value) => `${indent}  ${printableJson(value)}`).join(',\n')}\n${indent}]`;
}

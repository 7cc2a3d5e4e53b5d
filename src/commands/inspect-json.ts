import type { ShownEntry } from '../core/inspected-rows.ts';
import { rowsOf, type Which } from '../core/inspection-order.ts';
import type { Overview, PosFileOverview } from '../core/overview.ts';

/** One JSON object, in parts: a million entries are longer than a string may be. An entry a line. */
export function* jsonParts(found: Overview, which: Which): Generator<string> {
  yield '{\n  "posFiles": [';
  for (const [index, posFile] of found.posFiles.entries()) {
    yield index === 0 ? '\n' : ',\n';
    yield* posFileParts(posFile, which);
  }
  yield found.posFiles.length === 0 ? '],\n' : '\n  ],\n';
  const undiscovered = undiscoveredOf(found, which).map(({ path, size }) => ({ path, size }));
  const { lag, caughtUp } = found;
  yield `  "undiscovered": ${listed(undiscovered, '  ')},\n`;
  yield `  "lag": ${JSON.stringify(lag)},\n  "caughtUp": ${caughtUp}\n}\n`;
}

function* posFileParts({ path, entries, unparsable, error }: PosFileOverview, which: Which) {
  yield `    {\n      "path": ${JSON.stringify(path)},\n      "entries": [`;
  let separator = '\n';
  for (const row of rowsOf(entries, which)) {
    yield `${separator}        ${JSON.stringify(entryJson(entries.at(row)))}`;
    separator = ',\n';
  }
  yield separator === '\n' ? ']' : '\n      ]';
  yield `,\n      "unparsable": ${listed(unparsable, '      ')}`;
  yield error === undefined ? '\n    }' : `,\n      "error": ${JSON.stringify(error)}\n    }`;
}

/** An entry a line, for logs and jq; what cannot be shown as an entry has a line of its own. */
export function* ndjsonLines(found: Overview, which: Which): Generator<string> {
  for (const { path: posFile, entries, unparsable, error } of found.posFiles) {
    for (const row of rowsOf(entries, which))
      yield JSON.stringify({ posFile, ...entryJson(entries.at(row)) });
    for (const line of unparsable) yield JSON.stringify({ posFile, unparsable: line });
    if (error !== undefined) yield JSON.stringify({ posFile, error });
  }
  for (const { posFile, path, size } of undiscoveredOf(found, which)) {
    const entry = { path, position: null, inode: null, size, lag: size, state: 'undiscovered' };
    yield JSON.stringify({ posFile, ...entry });
  }
}

function undiscoveredOf({ undiscovered }: Overview, { states }: Which): Overview['undiscovered'] {
  return states === undefined || states.includes('undiscovered') ? undiscovered : [];
}

/** The fields of the contract, in its order. */
function entryJson({ path, position, inode, size, lag, state }: ShownEntry) {
  return { path, position, inode, size, lag, state };
}

function listed(values: readonly unknown[], indent: string): string {
  if (values.length === 0) return '[]';
  return `[\n${values.map((value) => `${indent}  ${JSON.stringify(value)}`).join(',\n')}\n${indent}]`;
}

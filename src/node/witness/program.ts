import { readFileSync } from 'node:fs';

const SOURCE = new URL('../../core/witness/', import.meta.url);

/** The files of the witness, by their path in its directory. docker/bundle.mjs replaces the reads by the texts. */
export const PROGRAM: ReadonlyMap<string, string> = new Map([
  ['ruby/enumerator.rb', textOf('enumerator.rb')],
  ['files.rb', textOf('files.rb')],
  ['orders.rb', textOf('orders.rb')],
  ['receipts.rb', textOf('receipts.rb')],
  ['witness.rb', textOf('witness.rb')],
]);

function textOf(name: string): string {
  return readFileSync(new URL(name, SOURCE), 'utf8');
}

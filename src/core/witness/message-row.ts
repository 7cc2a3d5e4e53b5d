/**
 * One known message.
 *
 * The witness normalizes a text before it reports it, so that one kind of message is one text: a quoted part becomes `'…'` or `"…"`;
 * from a `/` on, what is not white space becomes `…` (paths, URLs); a number, and a run of eight or more hex digits, becomes `#`; then
 * the text is cut at 120 characters. To a text that ends in a colon it adds the message of the error:
 * `dump an error event: pattern not matched with data '…'`.
 */
export interface MessageRow {
  /** The source file, or, if it does not end in `.rb`, its beginning. */
  readonly file: string;
  /** The beginning of the normalized text. `*` is any text, and '' only the empty text. */
  readonly begins: string;
  /** The class of the error, without its modules. */
  readonly error?: string;
  readonly is: 'harmless' | 'retry' | 'loss';
  /** Harmless if each plugin of this class has this setting, and there is one. */
  readonly harmlessIf?: { readonly class: string; readonly setting: string; readonly value: boolean };
  /** The plugin says the same of a lost record and of one that it will send again: only the end of the attempt tells. */
  readonly retriedInFlush?: boolean;
}

type RowsOf = (file: string | readonly string[], ...begins: readonly string[]) => readonly MessageRow[];

/** Rows of a source file, or of several. */
const rowsThatAre =
  (is: MessageRow['is']): RowsOf =>
  (file, ...begins) =>
    [file].flat().flatMap((one) => begins.map((begin) => ({ file: one, begins: begin, is })));

export const harmless = rowsThatAre('harmless');
export const retry = rowsThatAre('retry');
export const loss = rowsThatAre('loss');

/** The same rows, if something more holds. */
export const given = (more: Partial<MessageRow>, rows: readonly MessageRow[]): readonly MessageRow[] =>
  rows.map((row) => ({ ...row, ...more }));

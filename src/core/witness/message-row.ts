/**
 * One known message. The witness normalizes a text, so that one kind of message is one text: a quoted part becomes `'…'` or `"…"`; a path or
 * URL becomes `…` from its first `/` on; a number, or a run of eight or more hex digits, becomes `#`. It cuts the text at 120 characters.
 * If a text ends in a colon, it adds the error's message: `dump an error event: pattern not matched with data '…'`.
 */
export interface MessageRow {
  /** The source file. If it does not end in `.rb`: the beginning of its name. */
  readonly file: string;
  /** The beginning of the normalized text. `*` matches any text, and '' only an empty one. */
  readonly begins: string;
  /** The error's class without its modules. */
  readonly error?: string;
  /** `counted`: a loss of which a receipt has the number. */
  readonly is: 'harmless' | 'retry' | 'loss' | 'counted';
  /** Harmless if there is a plugin of this class and all of them have this setting. */
  readonly harmlessIf?: { readonly class: string; readonly setting: string; readonly value: boolean };
  /** The plugin logs the same for a lost record and for one that it retries, so the end of the flush decides. */
  readonly retriedInFlush?: boolean;
}

type RowsOf = (file: string | readonly string[], ...begins: readonly string[]) => readonly MessageRow[];

const rowsThatAre =
  (is: MessageRow['is']): RowsOf =>
  (file, ...begins) =>
    [file].flat().flatMap((one) => begins.map((begin) => ({ file: one, begins: begin, is })));

export const harmless = rowsThatAre('harmless');
export const retry = rowsThatAre('retry');
export const loss = rowsThatAre('loss');
export const counted = rowsThatAre('counted');

/** The same rows with further conditions. */
export const given = (more: Partial<MessageRow>, rows: readonly MessageRow[]): readonly MessageRow[] =>
  rows.map((row) => ({ ...row, ...more }));

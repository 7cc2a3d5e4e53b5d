/**
 * One known message.
 *
 * The witness normalizes a text before it reports it: from a `/` on, what is not white space becomes `…` (paths, URLs); a run of hex
 * digits with at least one decimal digit in it becomes `#`; then the text is cut at 120 characters. An error event's text goes on
 * with the message of its error: `dump an error event: pattern not matched with data …`.
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
  readonly why?: string;
}

import type { Heard, PluginSettings } from './answer.ts';
import type { MessageRow } from './message-row.ts';
import { FLUENTD_MESSAGES } from './messages-of-fluentd.ts';
import { PLUGIN_MESSAGES } from './messages-of-plugins.ts';

/** `harmless`: it loses no record. `retry`: the plugin still has the record. `loss`: a record is lost. `counted`: a receipt has their number. `unknown`: no row fits. */
export type Judgement = MessageRow['is'] | 'unknown';

/** The tags of Fluentd's own events, which are no records of a log file. */
const OWN_TAG = /^fluent\.(trace|debug|info|warn|error|fatal)$/;
/** Inputs other than in_tail. They read no log file. */
const OTHER_INPUT = /^fluent\/plugin\/in_(?!tail(?:\.rb|\/))/;

const ROWS = [...FLUENTD_MESSAGES, ...PLUGIN_MESSAGES].map((row) => ({ row, matches: matcherOf(row) }));

export function judgeHeard(heard: Heard, about: readonly PluginSettings[]): Judgement {
  if (OTHER_INPUT.test(heard.file) || OWN_TAG.test(heard.tag ?? '')) return 'harmless';
  const row = rowOf(heard);
  const isRetried =
    heard.during === 'flush' &&
    ((row?.is !== 'loss' && row?.is !== 'counted') || row.retriedInFlush === true);
  if (row?.harmlessIf !== undefined && allHave(row.harmlessIf, about)) return 'harmless';
  return isRetried ? 'retry' : (row?.is ?? 'unknown');
}

/** The most specific row that fits a message; undefined if none fits. */
function rowOf({ file, text, error }: Pick<Heard, 'file' | 'text' | 'error'>): MessageRow | undefined {
  const known = ROWS.filter(({ row, matches }) => matches(file, text) && isError(row, error));
  return known.map(({ row }) => row).reduce<MessageRow | undefined>(longer, undefined);
}

function isError(row: MessageRow, error: string | null): boolean {
  return row.error === undefined || error?.split('::').at(-1) === row.error;
}

function longer(best: MessageRow | undefined, row: MessageRow): MessageRow {
  return best === undefined || weightOf(row) > weightOf(best) ? row : best;
}

/** More specific is first a longer beginning, then a named error, then a longer file name. */
function weightOf({ begins, error, file }: MessageRow): number {
  return begins.length * 1_000 + (error === undefined ? 0 : 500) + file.length;
}

function matcherOf({ file, begins }: MessageRow): (file: string, text: string) => boolean {
  const isFile = file.endsWith('.rb')
    ? (name: string) => name === file
    : (name: string) => name.startsWith(file);
  const pattern = begins.split('*').map(literally).join('.*');
  const begin = new RegExp(begins === '' ? '^$' : `^${pattern}`, 's');
  return (name, text) => isFile(name) && begin.test(text);
}

function literally(text: string): string {
  return text.replace(/[\\^$.+?()[\]{}|/-]/g, '\\$&');
}

function allHave(
  { class: name, setting, value }: NonNullable<MessageRow['harmlessIf']>,
  about: readonly PluginSettings[],
): boolean {
  const meant = about.filter((plugin) => plugin.class === name);
  return meant.length > 0 && meant.every(({ settings }) => (settings[setting] ?? false) === value);
}

import type { Heard, PluginSettings } from './answer.ts';
import { type Condition, HARMLESS, type Row } from './harmless-messages.ts';

/** Inputs other than in_tail. They read no log file. */
const OTHER_INPUT = /^fluent\/plugin\/in_(?!tail(?:\.rb|\/))/;

/** Whether no record is lost with a message, or the witness counts it. Any message that is not known to be harmless is a doubt. */
export function isHarmless(heard: Heard, about: readonly PluginSettings[]): boolean {
  return OTHER_INPUT.test(heard.file) || HARMLESS.some((row) => fits(row, heard, about));
}

function fits([files, texts, onlyIf]: Row, heard: Heard, about: readonly PluginSettings[]): boolean {
  const isFile = (file: string) =>
    heard.file === file || (!file.endsWith('.rb') && heard.file.startsWith(file));
  if (!texts.test(heard.text) || !files.split(' ').some(isFile)) return false;
  if (onlyIf === undefined) return true;
  const { error, plugin, without = [] } = onlyIf;
  const isError = error === undefined || lastPart(heard.error ?? '') === error;
  return isError && allHave(plugin, about) && !about.some((one) => without.includes(lastPart(one.class)));
}

function allHave([name, setting, value]: Condition['plugin'], about: readonly PluginSettings[]): boolean {
  const meant = about.filter((plugin) => plugin.class === `Fluent::Plugin::${name}`);
  return meant.length > 0 && meant.every(({ settings }) => (settings[setting] ?? false) === value);
}

/** A class without its modules. */
function lastPart(name: string): string {
  return name.slice(name.lastIndexOf(':') + 1);
}

import type { Options } from 'yargs';
import { UsageError } from '../../tasks/usage-error.ts';
import { durationOf, nonEmpty, optional } from './coercions.ts';

export const WHICH = 'Which Fluentd:';
export const WHEN = 'When to stop it:';
export const HOW = 'How to stop it:';
export const TELL = 'What to tell:';
export const SHOW = 'How to show it:';

/** Which pos files, and how Fluentd is configured. */
export const posFileOptions = {
  'pos-file': list(
    'p',
    'PATH',
    'a pos file or glob of in_tail; repeatable; by default those of fluent.conf',
    WHICH,
  ),
  'fluent-conf': {
    ...text('FILE', "fluentd's configuration; by default $FLUENT_CONF or where the images have it", WHICH),
    alias: 'c',
    coerce: optional(nonEmpty('fluent-conf')),
  },
} as const;

/** `POSIDLE_` + the option's name in capitals, for the options that exist; other variables of that prefix are not ours. */
export function optionsFromEnvironment(
  env: Readonly<Record<string, string | undefined>>,
  options: Readonly<Record<string, Options>>,
): Readonly<Record<string, unknown>> {
  const given = Object.entries(options).flatMap(([name, option]) => {
    const value = env[`POSIDLE_${name.toUpperCase().replaceAll('-', '_')}`];
    return value === undefined || value === '' ? [] : [[name, fromEnvironment(name, option, value)]];
  });
  return Object.fromEntries(given);
}

function fromEnvironment(name: string, option: Options, value: string): unknown {
  if (option.array === true) return value.split(',');
  if (option.type !== 'boolean') return value;
  if (/^(1|true|yes|on)$/i.test(value)) return true;
  if (/^(0|false|no|off)$/i.test(value)) return false;
  throw new UsageError(
    `POSIDLE_${name.toUpperCase().replaceAll('-', '_')}: '${value}' is neither true nor false`,
  );
}

/** An option with one value. */
export function text(placeholder: string, meaning: string, group: string) {
  return { type: 'string', requiresArg: true, describe: `${placeholder}: ${meaning}`, group } as const;
}

/** A repeatable option. */
export function list(alias: string, placeholder: string, meaning: string, group: string) {
  return { ...text(placeholder, meaning, group), alias, array: true, nargs: 1 } as const;
}

/** An option without a value. */
export function flag(meaning: string) {
  return { type: 'boolean', default: false, describe: meaning } as const;
}

/** A duration that has a default. */
export function duration<Word extends string = never>(
  name: string,
  meaning: string,
  byDefault: string,
  words: readonly Word[] = [],
) {
  return { ...text('DUR', meaning, ''), default: byDefault, coerce: durationOf(name, words) } as const;
}

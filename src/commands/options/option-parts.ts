import type { Options } from 'yargs';
import { type Millis, writeDuration } from '../../core/text/units.ts';
import { UsageError } from '../../tasks/usage-error.ts';
import { durationOr, nonEmpty } from './coercions.ts';

export const WHICH = 'Which Fluentd:';
export const WHEN = 'When to begin the drain (wait until all is read and sent, then stop Fluentd):';
export const HOW = 'How to drain and stop:';
export const TELL = 'What to report:';
export const SHOW = 'How to show it:';

export const posFileOptions = {
  'pos-file': {
    ...text(
      'PATH',
      'a pos file, in which in_tail writes how far it has read, or a glob; repeatable; by default those of fluent.conf',
      WHICH,
    ),
    alias: 'p',
    array: true,
    nargs: 1,
  },
  'fluent-conf': {
    ...parsed(
      'FILE',
      "Fluentd's configuration; by default the -c of the Fluentd to stop, else $FLUENT_CONF, else where the images have it",
      WHICH,
      nonEmpty,
    ),
    alias: 'c',
  },
} as const;

/** Makes each coercion name its option in its errors. */
export function namedInErrors<All extends Readonly<Record<string, Options>>>(options: All): All {
  const entries = Object.entries(options).map(([name, option]) => {
    const { coerce } = option;
    return [name, coerce ? { ...option, coerce: (value: unknown) => coerced(name, value, coerce) } : option];
  });
  return Object.fromEntries(entries);
}

function coerced(name: string, value: unknown, parse: (given: string) => unknown): unknown {
  if (value === undefined) return undefined;
  if (Array.isArray(value)) throw new UsageError(`--${name}: given ${value.length} times. Give it once`);
  try {
    return parse(String(value));
  } catch (error) {
    throw new UsageError(`--${name}: ${(error as Error).message}`);
  }
}

export function text(placeholder: string, meaning: string, group: string) {
  return { type: 'string', requiresArg: true, describe: `${placeholder}: ${meaning}`, group } as const;
}

export function parsed<T>(placeholder: string, meaning: string, group: string, coerce: (given: string) => T) {
  return { ...text(placeholder, meaning, group), coerce } as const;
}

export function flag(meaning: string, group: string) {
  return { type: 'boolean', default: false, describe: meaning, group } as const;
}

export function duration(meaning: string, byDefault: Millis | 'off', group: string) {
  return { ...parsed('DUR', meaning, group, durationOr()), default: writeDuration(byDefault) } as const;
}

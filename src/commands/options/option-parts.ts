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
    ...text(WHICH),
    describe:
      'PATH: a pos file, in which in_tail writes how far it has read, or a glob; repeatable; by default those of fluent.conf',
    alias: 'p',
    array: true,
    nargs: 1,
  },
  'fluent-conf': {
    ...parsed(WHICH, nonEmpty),
    describe:
      "FILE: Fluentd's configuration; by default the -c of the Fluentd to stop, else $FLUENT_CONF, else where the images have it",
    alias: 'c',
  },
} as const;

type Described = Options & { readonly describe: string };

/** Makes each coercion name its option in its errors. */
export function namedInErrors<All extends Readonly<Record<string, Described>>>(options: All): All {
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

export function text(group: string) {
  return { type: 'string', requiresArg: true, group } as const;
}

export function parsed<T>(group: string, coerce: (given: string) => T) {
  return { ...text(group), coerce } as const;
}

export function flag(meaning: string, group: string) {
  return { type: 'boolean', default: false, describe: meaning, group } as const;
}

export function duration(group: string, byDefault: Millis) {
  return { ...parsed(group, durationOr()), default: writeDuration(byDefault) } as const;
}

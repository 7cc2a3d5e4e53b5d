import type { Outcome } from '../../core/drain/outcome.ts';
import { LOG_LEVELS, type Log } from '../../log.ts';
import { exportOptions } from './export-options.ts';
import { inspectOptions } from './inspect-options.ts';
import { runOptions, watchOptions } from './options.ts';

const FLAGS = { ...watchOptions, ...runOptions, ...inspectOptions, ...exportOptions };

/** Texts name an option by its key in the library, `posFiles`; here by its flag. */
export function inFlags(text: string): string {
  return text.replace(/`(\w+)`/g, (word, key: string) => {
    const kebab = key.replace(/[A-Z]/g, (capital) => `-${capital.toLowerCase()}`);
    const flag = key === 'posFiles' ? 'pos-file' : kebab;
    return Object.hasOwn(FLAGS, flag) ? `--${flag}` : word;
  });
}

export function logInFlags(log: Log): Log {
  const levels = LOG_LEVELS.map((level) => [
    level,
    (facts: Readonly<Record<string, unknown>>, text: string) => log[level](facts, inFlags(text)),
  ]);
  return Object.fromEntries(levels) as Log;
}

export function outcomeInFlags(outcome: Outcome): Outcome {
  return { ...outcome, why: inFlags(outcome.why) };
}

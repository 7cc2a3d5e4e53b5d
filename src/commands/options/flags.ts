import { inspectOptions } from './inspect-options.ts';
import { runOptions, watchOptions } from './options.ts';

const FLAGS = { ...watchOptions, ...runOptions, ...inspectOptions };

/** Texts name an option by its key in the library, `posFiles`; here by its flag. */
export function inFlags(text: string): string {
  return text.replace(/`(\w+)`/g, (word, key: string) => {
    const kebab = key.replace(/[A-Z]/g, (capital) => `-${capital.toLowerCase()}`);
    const flag = key === 'posFiles' ? 'pos-file' : kebab;
    return Object.hasOwn(FLAGS, flag) ? `--${flag}` : word;
  });
}

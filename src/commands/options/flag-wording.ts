import { OPTION_NAMES } from './commands.ts';

/** Texts name an option by its key in the library, `posFiles`; here by its flag. */
export function inFlags(text: string): string {
  return text.replace(/`(\w+)`/g, (word, key: string) => {
    const kebab = key.replace(/[A-Z]/g, (capital) => `-${capital.toLowerCase()}`);
    const flag = key === 'posFiles' ? 'pos-file' : kebab;
    return OPTION_NAMES.has(flag) ? `--${flag}` : word;
  });
}

import { getSystemErrorMap } from 'node:util';

/** Where the system's own words mislead, or are missing. */
const WORDS: Readonly<Record<string, string>> = {
  EISDIR: 'it is a directory',
  ENXIO: 'it is not a regular file',
  ENOTFOUND: 'no such host is known',
  EMFILE: 'posidle has too many files open',
  ENFILE: 'the system has too many files open',
};

/** Whether the error says nothing about the file: the system had no room to open it. */
export function isExhaustion(error: unknown): boolean {
  return ['EMFILE', 'ENFILE', 'ENOMEM'].includes((error as NodeJS.ErrnoException).code ?? '');
}

/** Whether the error means that there is no such file. */
export function isAbsence(error: unknown): boolean {
  return ['ENOENT', 'ENOTDIR', 'ELOOP'].includes((error as NodeJS.ErrnoException).code ?? '');
}

/** Describes a system error for people. The path is left out, because messages name it themselves. */
export function inWords({ code = '', errno = 0, message }: NodeJS.ErrnoException): string {
  return WORDS[code] ?? getSystemErrorMap().get(errno)?.[1] ?? message;
}

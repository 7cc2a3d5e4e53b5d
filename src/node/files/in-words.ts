import { decodePath } from '../../core/pos-file/path-bytes.ts';

const WORDS: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  ENOTDIR: 'a part of its path is not a directory',
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EROFS: 'the file system is read-only',
  ENOSPC: 'the disk is full',
  EISDIR: 'it is a directory',
  ELOOP: 'its symbolic links form a loop, or are too many',
  ENXIO: 'it is not a regular file',
  ENAMETOOLONG: 'its path is longer than the system allows',
  EADDRINUSE: 'another process listens there already',
  EADDRNOTAVAIL: 'no network interface here has this address',
  ENOTFOUND: 'no such host is known',
  EIO: 'the disk failed to read it',
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
export function inWords(error: NodeJS.ErrnoException): string {
  return WORDS[error.code ?? ''] ?? decodePath(Buffer.from(error.message.replace(/, \w+( '.*')?$/s, '')));
}

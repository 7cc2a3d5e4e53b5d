import { existsSync } from 'node:fs';
import { formatBytes } from '../core/text/units.ts';
import { InstallError, install } from '../node/install/install.ts';
import { UsageError } from '../tasks/usage-error.ts';

/** `posidle install DIR`: resolves when DIR/posidle runs. */
export async function runInstall(bundle: string, dir: string, print: (text: string) => void): Promise<void> {
  if (process.platform !== 'linux')
    throw new UsageError('install: copies this Node for a Linux container; run it in one');
  if (!existsSync(bundle))
    throw new UsageError('install: there is no bundle to copy; run it as `node posidle.cjs install DIR`');
  try {
    const { command, version, bytes, wasThere } = await install(bundle, dir);
    const what = wasThere ? 'was there already' : `${formatBytes(bytes)} with Node ${process.version}`;
    print(`posidle ${version} is installed (${what}); run ${command}\n`);
  } catch (error) {
    throw new UsageError(`install: ${why(error as NodeJS.ErrnoException, dir)}`);
  }
}

const CAUSES: Readonly<Record<string, string>> = {
  EACCES: 'may not be written to; run as a user who may (an emptyDir is for all)',
  EPERM: 'may not be written to',
  EROFS: 'is mounted read-only',
  ENOSPC: 'is full; nothing was installed',
  EDQUOT: 'has no quota left; nothing was installed',
  ENOTDIR: 'is no directory',
  EEXIST: 'is no directory',
  ENOENT: 'cannot be made there',
  EISDIR: 'holds a directory of the name posidle',
};

function why(error: NodeJS.ErrnoException, dir: string): string {
  if (error instanceof InstallError) return error.message;
  const cause = CAUSES[error.code ?? ''];
  if (cause === undefined) throw error;
  return `${dir} ${cause} (${error.code})`;
}

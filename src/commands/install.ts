import { existsSync } from 'node:fs';
import { formatBytes } from '../core/text/units.ts';
import { InstallError, install } from '../node/install/install.ts';
import { UsageError } from '../tasks/usage-error.ts';

/** `posidle install DIR`: resolves when DIR/posidle runs. */
export async function runInstall(bundle: string, dir: string, print: (text: string) => void): Promise<void> {
  if (process.platform !== 'linux')
    throw new UsageError('install: this copies Node for a Linux container. Run it in one');
  if (!existsSync(bundle))
    throw new UsageError('install: there is no bundle to copy. Use `node posidle.cjs install DIR`');
  try {
    const { command, version, bytes, wasThere } = await install(bundle, dir);
    const what = wasThere ? 'was there already' : `${formatBytes(bytes)} with Node ${process.version}`;
    print(`posidle ${version} is installed (${what}); run ${command}\n`);
  } catch (error) {
    throw new UsageError(`install: ${why(error as NodeJS.ErrnoException, dir)}`);
  }
}

const CAUSES: Readonly<Record<string, string>> = {
  EACCES: 'is not writable. Run as a user with write access, or mount an emptyDir',
  EPERM: 'is not writable',
  EROFS: 'is mounted read-only',
  ENOSPC: 'is full. Nothing was installed',
  EDQUOT: 'has no quota left. Nothing was installed',
  ENOTDIR: 'is not a directory',
  EEXIST: 'is not a directory',
  ENOENT: 'cannot be created',
  EISDIR: 'contains a directory named posidle',
};

function why(error: NodeJS.ErrnoException, dir: string): string {
  if (error instanceof InstallError) return error.message;
  const cause = CAUSES[error.code ?? ''];
  if (cause === undefined) throw error;
  return `${dir} ${cause} (${error.code})`;
}

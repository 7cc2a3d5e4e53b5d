import { spawnSync } from 'node:child_process';
import { beforeEach, type TestContext } from 'vitest';

/** Skips the tests of this file or `describe` where there is a reason to. */
export function skipFor(reason: string | undefined): void {
  beforeEach(({ skip }) => skip(reason !== undefined, reason));
}

/** Skips a test that only root can run. */
export function needsRoot({ skip }: Pick<TestContext, 'skip'>): void {
  skip(process.getuid?.() !== 0, 'only root can run them');
}

/** Why no test may give a process a PID namespace: most containers allow none. */
export function noNamespace(): string | undefined {
  const { status } = spawnSync('unshare', ['-Urpf', '--mount-proc', 'true']);
  return status === 0 ? undefined : 'no process may make a namespace here';
}

import { beforeEach, type TestContext } from 'vitest';

/** Skips the tests of this file or `describe` where there is a reason to. */
export function skipFor(reason: string | undefined): void {
  beforeEach(({ skip }) => skip(reason !== undefined, reason));
}

/** Skips a test that only root can run. */
export function needsRoot({ skip }: Pick<TestContext, 'skip'>): void {
  skip(process.getuid?.() !== 0, 'only root can run them');
}

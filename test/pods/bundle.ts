import { resolve } from 'node:path';

/** posidle in one file, as test/support/build.ts makes it before the tests. */
export const BUNDLE = resolve('dist/posidle.cjs');

import { execFile } from 'node:child_process';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { requireFluentd, testGems } from '../support/real-fluentd.ts';

/** The only version whose gem has its tests. */
const VERSION = '1.14.6';
/** They fail without a witness as well, in five of eight runs here: they need a file system that uses no inode number again. */
const UNSURE = 'inode_processing';
/** They sleep for a minute, and so do the others of in_tail. */
const HALF = 'singleline';
/** Those of the files in which the witness listens, the longest first. */
const FILES: readonly (readonly [name: string, chosen: string])[] = [
  ['in_tail', `--testcase=/${HALF}/`],
  ['in_tail', `--ignore-testcase=/${HALF}|${UNSURE}/`],
  ...['output_as_buffered_retries', 'output_as_buffered', 'output_as_buffered_secondary', 'filter_parser']
    .concat('bare_output', 'buffer', 'multi_output', 'out_copy', 'output')
    .concat('output_as_buffered_overflow', 'output_as_buffered_backup')
    .map((name) => [name, ''] as const),
];

describe("Fluentd's own tests pass beside a witness that is asked ten times a second", {
  concurrent: true,
}, () => {
  test.for(FILES)('test_%s %s', { timeout: 600_000 }, async ([name, chosen], context) => {
    const { env, ruby } = requireFluentd(VERSION, context);
    const gems = String(env.GEM_HOME);
    const cwd = join(gems, 'gems', `fluentd-${VERSION}`);
    const asked = resolve('test/witness/asked.rb');
    const words = ['-r', asked, '-W0', '-Ilib', '-Itest', `test/plugin/test_${name}.rb`, chosen];
    const { stdout, stderr } = await promisify(execFile)(ruby, words, {
      cwd,
      // Each has its own directory.
      env: { ...env, GEM_PATH: `${gems}:${testGems()}`, TEST_ENV_NUMBER: chosen },
      maxBuffer: 2 ** 26,
    }).catch((error) => error);
    expect(stdout).toMatch(/^\d+ tests, \d+ assertions, 0 failures, 0 errors/m);
    expect(stderr).toMatch(/asked: [1-9]\d* answers, nil/);
  });
});

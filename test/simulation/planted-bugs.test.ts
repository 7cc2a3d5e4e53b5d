import { spawnSync } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { resolve } from 'node:path';
import { build, type Plugin } from 'esbuild';
import { expect, test } from 'vitest';

/** One bug of each kind, as a change to a file of src/core; and the broken promise. */
const BUGS: readonly (readonly [kind: string, file: string, from: string, to: string, broken: RegExp])[] = [
  [
    'a wrong word',
    'drain/outcome.ts',
    "? 'unproven' : 'drained'",
    "? 'drained' : 'drained'",
    /^drained, and/,
  ],
  [
    'a doubt that is never raised',
    'witness/receipts.ts',
    '...outputs.flatMap(doubtsOfOutput)',
    '...[]',
    /^drained, and line/,
  ],
  [
    'an order that is not given',
    'drain/step.ts',
    "changeTo({ name: 'killing', since: seen.at, ...result }, why, [{ do: 'kill' }])",
    'stay(state, deadline)',
    /^it goes on long after the grace period/,
  ],
  [
    'a gate that is always open',
    'progress/progress.ts',
    'due.has(id)',
    'false',
    /^told to stop with line .* in a buffer/,
  ],
];

const OUT = resolve(`node_modules/.cache/posidle/planted-${process.pid}.mjs`);

test.each(BUGS)('the first 200 lifetimes find %s, planted into %s', async (_, file, from, to, broken) => {
  const path = resolve('src/core', file);
  const text = readFileSync(path, 'utf8');
  expect(text.split(from)).toHaveLength(2);
  const plant: Plugin = {
    name: 'planted bug',
    setup: (plugins) =>
      plugins.onLoad({ filter: /\.ts$/ }, (args) =>
        args.path === path ? { contents: text.replace(from, to), loader: 'ts' } : undefined,
      ),
  };
  await build({
    ...{
      entryPoints: ['test/simulation/main.ts'],
      outfile: OUT,
      bundle: true,
      platform: 'node',
      format: 'esm',
    },
    ...{ packages: 'external', logLevel: 'silent', plugins: [plant] },
  });
  const args = [OUT, '--seeds', '200', '--from', '1', '--brief'];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  rmSync(OUT);
  expect(stdout.trimEnd().split('\n').at(-1), stderr).toMatch(broken);
  expect(status).toBe(1);
});

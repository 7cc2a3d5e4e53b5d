import { spawnSync } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { resolve } from 'node:path';
import { build, type Plugin } from 'esbuild';
import { expect, test } from 'vitest';

/** A change to a file. */
type Plant = readonly [file: string, from: string, to: string];

type Bug = readonly [kind: string, plant: Plant, broken: RegExp];

const OUT = resolve(`node_modules/.cache/posidle/planted-${process.pid}.mjs`);
const FIRST = ['--seeds', '200', '--from', '1'];

test.each<Bug>([
  [
    'a doubt that is never raised',
    ['src/core/witness/receipts.ts', '...outputs.flatMap(doubtsOfOutput)', '...[]'],
    /^drained, and line/,
  ],
  [
    'an order that is not given',
    [
      'src/core/drain/step.ts',
      "changeTo({ name: 'killing', since: at, killed, trigger, pending }, why, 'kill')",
      'stay(state)',
    ],
    /^it goes on long after the grace period/,
  ],
])('the first 200 lifetimes find %s', async (_, bug, broken) => {
  const { status, stdout, stderr } = await runWith([bug], 'test/simulation/main.ts', [...FIRST, '--brief']);
  expect(stdout.trimEnd().split('\n').at(-1), stderr).toMatch(broken);
  expect(status).toBe(1);
});

test.each<Bug>([
  [
    'a gate that is always open',
    ['src/core/progress/progress.ts', 'due.has(id)', 'false'],
    /^told to stop with line .* in a buffer/m,
  ],
  // In a lifetime without a witness.
  [
    'a wrong word',
    ['src/core/drain/outcome.ts', "? 'unproven' : 'drained'", "? 'drained' : 'drained'"],
    /^drained, and/m,
  ],
])(
  'the first 200 lifetimes find %s, and print a row of the table, which breaks the promise until the bug is mended',
  async (_, bug, broken) => {
    const { status, stdout } = await runWith([bug], 'test/simulation/main.ts', FIRST);
    expect(stdout).toMatch(broken);
    expect(status).toBe(1);
    const row = stdout.slice(stdout.indexOf('\n{'));
    const pasted: Plant = [
      'test/situations/table/stopped.ts',
      'STOPPED: readonly Situation[] = [',
      `$&${row},`,
    ];
    const { name } = JSON.parse(row);
    const situation = ['test/situations/command.ts', [name, '--world', 'simulation']] as const;
    const faulty = await runWith([bug, pasted], ...situation);
    expect(faulty.stdout.match(/✗ (.*)/)?.[1]).toMatch(broken);
    const mended = await runWith([pasted], ...situation);
    expect(mended.stdout, mended.stderr).toContain('✓ as the table says');
  },
);

/** Runs a program of the tests, bundled with these changes. */
async function runWith(plants: readonly Plant[], entry: string, args: readonly string[]) {
  const plugin: Plugin = {
    name: 'plants',
    setup: ({ onLoad }) =>
      onLoad({ filter: /\.ts$/ }, ({ path }) => {
        const plant = plants.find(([file]) => resolve(file) === path);
        if (plant === undefined) return undefined;
        const [, from, to] = plant;
        const text = readFileSync(path, 'utf8');
        expect(text.split(from)).toHaveLength(2);
        return { contents: text.replace(from, to), loader: 'ts' };
      }),
  };
  await build({
    ...{ entryPoints: [entry], outfile: OUT, bundle: true, platform: 'node', format: 'esm' },
    ...{ packages: 'external', logLevel: 'silent', target: 'node20', plugins: [plugin] },
  });
  const ran = spawnSync(process.execPath, [OUT, ...args], { encoding: 'utf8' });
  rmSync(OUT);
  return ran;
}

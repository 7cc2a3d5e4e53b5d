// Planted bugs: npm run mutants [-- SEEDS [FILE]]. Each is one change to the core; the simulation should find it.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { build, type Plugin } from 'esbuild';
import { MUTANTS, type Mutant } from './planted-bugs.ts';

const OUT = resolve(`node_modules/.cache/posidle/mutant-${process.pid}.mjs`);

function planted([file, from, to]: Mutant): Plugin {
  const path = resolve('src/core', file);
  return {
    name: 'mutant',
    setup(plugins) {
      plugins.onLoad({ filter: /\.ts$/ }, (args) => {
        if (args.path !== path) return undefined;
        const text = readFileSync(path, 'utf8');
        if (!text.includes(from)) throw new Error(`${file} has no ${from}`);
        return { contents: text.replace(from, to), loader: 'ts' };
      });
    },
  };
}

/** The simulation's violation for a planted bug, or undefined if it finds none. */
async function killedBy(mutant: Mutant, seeds: string): Promise<string | undefined> {
  await build({
    entryPoints: ['test/simulation/main.ts'],
    outfile: OUT,
    bundle: true,
    platform: 'node',
    format: 'esm',
    packages: 'external',
    logLevel: 'silent',
    plugins: [planted(mutant)],
  });
  const args = [OUT, '--seeds', seeds, '--from', '1', '--brief'];
  const { status, stdout } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  return status === 0 ? undefined : (stdout.trimEnd().split('\n').at(-1) ?? 'it crashed');
}

const [seeds = '1500', file = ''] = process.argv.slice(2);
const mutants = MUTANTS.filter(([name]) => name.includes(file));
let killed = 0;
for (const mutant of mutants) {
  const why = await killedBy(mutant, seeds);
  killed += why === undefined ? 0 : 1;
  console.log(
    `${why === undefined ? 'ALIVE ' : 'killed'} ${mutant.join(' | ').replaceAll('\n', ' ')}${why === undefined ? '' : ` — ${why}`}`,
  );
}
console.log(`${killed} of ${mutants.length} planted bugs killed by ${seeds} lifetimes each`);

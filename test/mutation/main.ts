// A mutation run over the decision and what it rests on: npm run mutation [-- --every N] [FILE…]. survivors.md says why some live.
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { context, type Plugin } from 'esbuild';
import { type Mutant, mutantsOf } from './mutants.ts';

const FOLDERS = ['drain', 'observe', 'look', 'fluentd'];
/** What is told in words, shown, or found in the process table decides nothing here. */
const LEFT_OUT = /(explain|metrics|status|processes|command-line|monitor-agent|chunk|defaults)\.ts$/;
/** These play thousands of worlds each: only where they have something to say. */
const SLOW = /(step|diagram)\.test\.ts$/;
const NEEDS_SLOW = /drain\/(step|moves|deadlines)\.ts$/;
const LIFETIMES = 200;
const LONGEST = 180_000;
const OUT = resolve(`node_modules/.cache/posidle/mutation-${process.pid}.mjs`);

const QUICK_TESTS = filesIn('test/core')
  .filter((file) => file.endsWith('.test.ts') && !SLOW.test(file))
  .map((file) => `import './${file}';`)
  .join('\n');

/** First the quick tests, then the simulation, then the slow tests: the first that fails ends it. */
const ENTRY = `
import { firstFailure } from './test/mutation/suite.ts';
import { playBatch } from './test/simulation/batch.ts';
${QUICK_TESTS}
function die(why) { console.log(why); process.exit(1); }
const quick = await firstFailure();
if (quick !== undefined) die(quick);
const { failures } = await playBatch({ from: 1, count: ${LIFETIMES} });
if (failures.length > 0) die('simulation: ' + failures[0].broken.split('\\n')[0]);
if (process.env.NEEDS_SLOW !== 'yes') process.exit(0);
await import('./test/core/drain/step.test.ts');
const slow = await firstFailure();
if (slow !== undefined) die(slow);
`;

/** The file that has a mutant now. */
const planted = { path: '', text: '' };

const plugin: Plugin = {
  name: 'mutation',
  setup(plugins) {
    const suite = resolve('test/mutation/suite.ts');
    plugins.onResolve({ filter: /^vitest$/ }, ({ importer }) =>
      importer === suite ? { path: 'vitest', external: true } : { path: suite },
    );
    plugins.onLoad({ filter: /\/src\/core\/.*\.ts$/ }, ({ path }) =>
      path === planted.path ? { contents: planted.text, loader: 'ts' } : undefined,
    );
  },
};

const { values, positionals } = parseArgs({
  options: { every: { type: 'string', default: '1' } },
  allowPositionals: true,
});
const bundle = await context({
  stdin: { contents: ENTRY, resolveDir: process.cwd(), loader: 'ts' },
  outfile: OUT,
  bundle: true,
  platform: 'node',
  format: 'esm',
  target: 'node20',
  packages: 'external',
  logLevel: 'silent',
  plugins: [plugin],
});

/** What kills the text that is planted now; undefined: nothing. */
async function killer(): Promise<string | undefined> {
  await bundle.rebuild();
  const env = { ...process.env, NEEDS_SLOW: NEEDS_SLOW.test(planted.path) ? 'yes' : 'no' };
  const { status, stdout, signal } = spawnSync(process.execPath, [OUT], {
    encoding: 'utf8',
    timeout: LONGEST,
    env,
  });
  if (status === 0) return undefined;
  return signal === null ? stdout.trim() || 'it does not load' : 'it never ends';
}

function filesIn(root: string): readonly string[] {
  return FOLDERS.flatMap((folder) =>
    readdirSync(`${root}/${folder}`).map((name) => `${root}/${folder}/${name}`),
  );
}

function sourceFiles(): readonly string[] {
  if (positionals.length > 0) return positionals;
  return filesIn('src/core').filter((file) => !LEFT_OUT.test(file));
}

function describe(file: string, text: string, { start, end, to }: Mutant): string {
  const line = text.slice(0, start).split('\n').length;
  const whole = text.split('\n')[line - 1]?.trim();
  return `${file}:${line}  ${text.slice(start, end)} → ${to}  |  ${whole}`;
}

const unchanged = await killer();
if (unchanged !== undefined) throw new Error(`a test fails without any mutant: ${unchanged}`);
const sum = { killed: 0, tried: 0 };
for (const file of sourceFiles()) {
  const text = readFileSync(file, 'utf8');
  const mutants = mutantsOf(text).filter((_, index) => index % Number(values.every) === 0);
  let survivors = 0;
  for (const mutant of mutants) {
    planted.path = resolve(file);
    planted.text = text.slice(0, mutant.start) + mutant.to + text.slice(mutant.end);
    if ((await killer()) !== undefined) continue;
    survivors += 1;
    console.log(`SURVIVED ${describe(file, text, mutant)}`);
  }
  sum.tried += mutants.length;
  sum.killed += mutants.length - survivors;
  console.log(`${file}: ${mutants.length - survivors} of ${mutants.length} killed`);
}
console.log(`${sum.killed} of ${sum.tried} mutants killed, ${((100 * sum.killed) / sum.tried).toFixed(1)} %`);
await bundle.dispose();
rmSync(OUT, { force: true });

// A mutation run over the decision and what it rests on: npm run mutation [-- --every N] [--quick] [FILE…] [FILE:LINE…]. survivors.md says why some live.
// --quick: the quick unit tests alone.
import { readdirSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { context, type Plugin } from 'esbuild';
import { type Mutant, mutantsOf } from './mutants.ts';
import { Player } from './play.ts';

const FOLDERS = ['drain', 'observe', 'look', 'fluentd'];
/** What is told in words, shown, or found in the process table decides nothing here. */
const LEFT_OUT = /(explain|metrics|status|processes|command-line|monitor-agent|chunk|defaults)\.ts$/;
/** These play thousands of worlds each. */
const SLOW = /(step|diagram|at-rest-property|bounds)\.test\.ts$/;
/** The others gain nothing by them. */
const SLOW_FOR: readonly (readonly [file: RegExp, tests: string])[] = [
  [/drain\/(step|moves|deadlines)\.ts$/, 'drain/step'],
  [/observe\//, 'observe/at-rest-property'],
  [/observe\//, 'observe/bounds'],
];
const LIFETIMES = 200;

const QUICK_TESTS = filesIn('test/core')
  .filter((file) => file.endsWith('.test.ts') && !SLOW.test(file))
  .map((file) => `import './${file}';`)
  .join('\n');
const SLOW_TESTS = SLOW_FOR.map(([, tests]) => tests)
  .map((name) => `if (stages.includes('${name}')) await import('./test/core/${name}.test.ts');`)
  .join('\n');

/** First the quick tests, then the simulation, then the slow tests: the first that fails ends it. */
const ENTRY = `
import { firstFailure } from './test/mutation/suite.ts';
import { playBatch } from './test/simulation/batch.ts';
${QUICK_TESTS}
export async function verdict(...stages) {
  const quick = await firstFailure();
  if (quick !== undefined) return quick;
  if (stages.includes('simulation')) {
    const { failures: [first] } = await playBatch({ from: 1, count: ${LIFETIMES} });
    if (first !== undefined) return 'simulation: ' + first.broken.split('\\n')[0];
  }
  ${SLOW_TESTS}
  return await firstFailure();
}
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
  options: { every: { type: 'string', default: '1' }, quick: { type: 'boolean', default: false } },
  allowPositionals: true,
});
const bundle = await context({
  stdin: { contents: ENTRY, resolveDir: process.cwd(), loader: 'ts' },
  write: false,
  bundle: true,
  platform: 'node',
  format: 'esm',
  target: 'node20',
  packages: 'external',
  logLevel: 'silent',
  plugins: [plugin],
});

const player = new Player();

/** What kills the text that is planted now; undefined: nothing. */
async function killer(): Promise<string | undefined> {
  const { outputFiles } = await bundle.rebuild();
  const [file] = outputFiles;
  const slow = SLOW_FOR.filter(([files]) => files.test(planted.path)).map(([, tests]) => tests);
  return await player.play(file?.contents ?? new Uint8Array(), values.quick ? [] : ['simulation', ...slow]);
}

function filesIn(root: string): readonly string[] {
  return FOLDERS.flatMap((folder) =>
    readdirSync(`${root}/${folder}`).map((name) => `${root}/${folder}/${name}`),
  );
}

/** Each file with the lines that are asked for; none: all. */
function sourceFiles(): ReadonlyMap<string, readonly number[]> {
  const files = filesIn('src/core').filter((file) => !LEFT_OUT.test(file));
  const found = new Map<string, readonly number[]>();
  for (const given of positionals.length > 0 ? positionals : files) {
    const [file = '', line] = given.split(':');
    found.set(file, [...(found.get(file) ?? []), ...(line === undefined ? [] : [Number(line)])]);
  }
  return found;
}

function lineOf(text: string, { start }: Mutant): number {
  return text.slice(0, start).split('\n').length;
}

function describe(file: string, text: string, mutant: Mutant): string {
  const { start, end, to } = mutant;
  const line = lineOf(text, mutant);
  const whole = text.split('\n')[line - 1]?.trim();
  return `${file}:${line}  ${text.slice(start, end)} → ${to}  |  ${whole}`;
}

const unchanged = await killer();
if (unchanged !== undefined) throw new Error(`a test fails without any mutant: ${unchanged}`);
const sum = { killed: 0, tried: 0 };
for (const [file, lines] of sourceFiles()) {
  const text = readFileSync(file, 'utf8');
  const mutants = mutantsOf(text)
    .filter((mutant) => lines.length === 0 || lines.includes(lineOf(text, mutant)))
    .filter((_, index) => index % Number(values.every) === 0);
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
player.end();

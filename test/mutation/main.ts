import { readdirSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { context, type Plugin } from 'esbuild';
import { Random } from '../simulation/random.ts';
import { type Mutant, mutantsOf } from './mutants.ts';
import { Player } from './play.ts';
import { SURVIVORS } from './survivors.ts';

const USAGE = `A mutation run over the decision and what it rests on: npm run mutation [-- OPTION… FILE… FILE:LINE…]
  --sample N    so many mutants, drawn at random; otherwise all
  --seed N      draws the same ones again
  --simulation  the simulation alone has to find them`;

const FOLDERS = ['progress', 'witness', 'look', 'fluentd', 'drain'];
/** Files that only produce texts or views, or read the process table, decide nothing. */
const LEFT_OUT = /(describe|messages[a-z-]*|explain|status|processes|buffers|defaults)\.ts$/;
const TESTS = filesIn('test/core').filter((file) => file.endsWith('.test.ts'));
const LIFETIMES = 200;

/** Plays stages one after the other, until one fails. */
const ENTRY = `
import { firstFailure } from './test/mutation/suite.ts';
import { playBatch } from './test/simulation/batch.ts';
const TESTS = { ${TESTS.map((file) => `'${file}': () => import('./${file}')`).join(', ')} };
async function simulate() {
  const { failures: [first] } = await playBatch({ from: 1, count: ${LIFETIMES} });
  return first && 'simulation: ' + first.broken.split('\\n')[0];
}
export async function verdict(...stages) {
  for (const stage of stages) {
    await TESTS[stage]?.();
    const why = await (stage === 'simulation' ? simulate() : firstFailure());
    if (why !== undefined) return why;
  }
}
`;

/** The tests, its own first; then the simulation, unless the unit tests alone will do. */
function stagesFor(file: string, isQuick = false): readonly string[] {
  if (values.simulation) return ['simulation'];
  const own = file.replace('src/', 'test/').replace('.ts', '.test.ts');
  const folder = own.slice(0, own.lastIndexOf('/'));
  const distance = (test: string) => (test === own ? 0 : test.startsWith(folder) ? 1 : 2);
  const tests = TESTS.toSorted((a, b) => distance(a) - distance(b));
  return isQuick ? tests : [...tests, 'simulation'];
}

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
  options: {
    sample: { type: 'string' },
    seed: { type: 'string', default: String(Date.now() % 100_000) },
    simulation: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
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

/** The test that fails with the current mutant; undefined if none. */
async function killer(stages: readonly string[]): Promise<string | undefined> {
  const built = await bundle.rebuild().catch(() => undefined);
  const [file] = built?.outputFiles ?? [];
  return file === undefined ? 'it does not build' : await player.play(file.contents, stages);
}

function filesIn(root: string): readonly string[] {
  return FOLDERS.flatMap((folder) =>
    readdirSync(`${root}/${folder}`).map((name) => `${root}/${folder}/${name}`),
  );
}

/** Each file with the lines that are asked for; none: all. */
function sourceFiles(): ReadonlyMap<string, readonly number[]> {
  const files = filesIn('src/core').filter((file) => file.endsWith('.ts') && !LEFT_OUT.test(file));
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

/** One mutant of a source file. */
interface Planting {
  readonly file: string;
  readonly text: string;
  readonly mutant: Mutant;
}

function plantings(): readonly Planting[] {
  return [...sourceFiles()].flatMap(([file, lines]) => {
    const text = readFileSync(file, 'utf8');
    return mutantsOf(text)
      .filter((mutant) => lines.length === 0 || lines.includes(lineOf(text, mutant)))
      .map((mutant) => ({ file, text, mutant }));
  });
}

/** A random sample, drawn with the seed, in the order of the files. */
function sampled(all: readonly Planting[], count: number, seed: number): readonly Planting[] {
  const random = new Random(seed);
  const drawn = all.map((planting) => ({ planting, lot: random.next() }));
  const most = drawn.map(({ lot }) => lot).sort((a, b) => a - b)[count - 1] ?? 1;
  return drawn.filter(({ lot }) => lot <= most).map(({ planting }) => planting);
}

/** The text with the mutant. */
function planting({ text, mutant: { start, end, to } }: Planting): string {
  return text.slice(0, start) + to + text.slice(end);
}

/** The line as the mutant leaves it, and the one before. */
function changedLines(one: Planting): readonly string[] {
  const line = lineOf(one.text, one.mutant);
  return planting(one)
    .split('\n')
    .slice(Math.max(0, line - 2), line);
}

function reasonOf(one: Planting): string | undefined {
  const lines = changedLines(one).join('\n');
  return SURVIVORS.find(([file, code]) => one.file.endsWith(file) && lines.includes(code))?.[2];
}

function describe(one: Planting): string {
  const { file, text, mutant } = one;
  const change = `${text.slice(mutant.start, mutant.end)} → ${mutant.to}`;
  const why = reasonOf(one) ?? 'no reason yet: it wants a test';
  return `${file}:${lineOf(text, mutant)}  ${change}  |  ${changedLines(one).at(-1)?.trim()}\n    ${why}`;
}

function tally(name: string, tried: readonly Planting[], survivors: readonly Planting[]): string {
  const killed = tried.length - survivors.length;
  return `${name}: ${killed} of ${tried.length} mutants killed, ${((100 * killed) / tried.length).toFixed(1)} %`;
}

async function run(): Promise<void> {
  const unchanged = await killer(stagesFor('src/core/drain/step.ts'));
  if (unchanged !== undefined) throw new Error(`a test fails without any mutant: ${unchanged}`);
  const all = plantings();
  const tried = sampled(all, Number(values.sample ?? all.length), Number(values.seed));
  const survivors: Planting[] = [];
  for (const one of tried) {
    planted.path = resolve(one.file);
    planted.text = planting(one);
    // Skip mutants that are known to survive.
    const stages = stagesFor(one.file, reasonOf(one) !== undefined);
    if ((await killer(stages)) !== undefined) continue;
    survivors.push(one);
    console.log(`SURVIVED ${describe(one)}`);
  }
  for (const file of new Set(tried.map(({ file }) => file))) {
    const isIn = (one: Planting) => one.file === file;
    console.log(tally(file, tried.filter(isIn), survivors.filter(isIn)));
  }
  const known = survivors.filter((one) => reasonOf(one) !== undefined).length;
  const drawn = values.sample === undefined ? 'of every mutant' : `of ${all.length}, seed ${values.seed}`;
  console.log(`${tally(drawn, tried, survivors)}; ${known} of ${survivors.length} that live have a reason`);
}

if (values.help) console.log(USAGE);
else await run();
await bundle.dispose();
player.end();

import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { build, type Plugin } from 'esbuild';
import { type Mutant, mutantsOf, withSwitches } from './mutants.ts';
import { SURVIVORS } from './survivors.ts';

const USAGE = 'A mutation run over the decision and what it rests on: npm run mutation [-- FILE… FILE:LINE…]';

const FOLDERS = ['progress', 'witness', 'look', 'fluentd', 'drain'];
/** Files that only produce texts or views, or read the process table, decide nothing. */
const LEFT_OUT = /(describe|messages[a-z-]*|explain|status|processes|buffers)\.ts$/;
/** A mutant may loop for ever; all tests take 2 s, and the simulation as long, on a quiet machine. */
const LONGEST = 60_000;
const BUNDLE = resolve('node_modules/.cache/posidle', `mutation-${process.pid}.mjs`);

const { values, positionals } = parseArgs({
  options: { help: { type: 'boolean', default: false } },
  allowPositionals: true,
});

/** A mutant of a source file. */
interface Planted {
  readonly file: string;
  readonly text: string;
  readonly mutant: Mutant;
  readonly line: number;
}

const planted: Planted[] = [];

const plugin: Plugin = {
  name: 'mutation',
  setup(plugins) {
    const suite = resolve('test/mutation/suite.ts');
    plugins.onResolve({ filter: /^vitest$/ }, ({ importer }) =>
      importer === suite ? { path: 'vitest', external: true } : { path: suite },
    );
    plugins.onLoad({ filter: /\/src\/core\/.*\.ts$/ }, ({ path }) => {
      const file = path.slice(resolve().length + 1);
      if (!FOLDERS.includes(file.split('/')[2] ?? '') || LEFT_OUT.test(file)) return undefined;
      const text = readFileSync(path, 'utf8');
      const mutants = mutantsOf(text);
      const contents = withSwitches(text, mutants, planted.length);
      const lineOf = ({ start }: Mutant) => text.slice(0, start).split('\n').length;
      planted.push(...mutants.map((mutant) => ({ file, text, mutant, line: lineOf(mutant) })));
      return { contents, loader: 'ts' };
    });
  },
};

/** All tests in one bundle, each mutant behind a switch. */
async function bundle(): Promise<void> {
  const files = FOLDERS.flatMap((folder) =>
    readdirSync(`test/core/${folder}`).map((name) => `./test/core/${folder}/${name}`),
  );
  const tests = files.filter((file) => file.endsWith('.test.ts'));
  const contents = `
    import { serve } from './test/mutation/suite.ts';
    import { simulate } from './test/mutation/simulate.ts';
    ${tests.map((file) => `import '${file}';`).join('\n')}
    await serve(simulate);`;
  await build({
    stdin: { contents, resolveDir: process.cwd(), loader: 'ts' },
    outfile: BUNDLE,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    packages: 'external',
    logLevel: 'error',
    plugins: [plugin],
  });
}

/** A process that plays the tests, and is replaced when it hangs. */
class Player {
  #child: ChildProcess | undefined;

  /** The reason why the tests fail with this mutant; undefined if they pass. */
  async play(id: number): Promise<string | undefined> {
    if (this.#child === undefined) {
      const unchanged = await this.#start();
      if (unchanged !== undefined) throw new Error(`a test fails without any mutant: ${unchanged}`);
    }
    this.#child?.send(id);
    const why = await this.#answer();
    if (why !== 'at load') return why;
    const anew = new Player();
    const first = await anew.#start(String(id));
    anew.end();
    return first;
  }

  end(): void {
    this.#child?.kill('SIGKILL');
    this.#child = undefined;
  }

  #start(mutant = '-1'): Promise<string | undefined> {
    this.#child = fork(BUNDLE, { stdio: 'ignore', env: { ...process.env, MUTANT: mutant } });
    return this.#answer();
  }

  async #answer(): Promise<string | undefined> {
    const child = this.#child as ChildProcess;
    const end = new AbortController();
    const timer = setTimeout(() => child.kill('SIGKILL'), LONGEST);
    const { signal } = end;
    const [answer] = await Promise.race([
      once(child, 'message', { signal }),
      once(child, 'exit', { signal }),
    ]);
    clearTimeout(timer);
    end.abort();
    if (typeof answer === 'object' && answer !== null) return answer.why;
    this.#child = undefined;
    return 'it never ends, or ends the process';
  }
}

/** Each file that is asked for, with its lines; none: all. */
function isWanted({ file, line }: Planted): boolean {
  return positionals.length === 0 || positionals.some((one) => one === file || one === `${file}:${line}`);
}

/** The line as the mutant leaves it, and the one before. */
function changedLines({ text, mutant: { start, end, to }, line }: Planted): readonly string[] {
  const changed = text.slice(0, start) + to + text.slice(end);
  return changed.split('\n').slice(Math.max(0, line - 2), line);
}

function reasonOf(one: Planted): string | undefined {
  const lines = changedLines(one).join('\n');
  return SURVIVORS.find(([file, code]) => one.file.endsWith(file) && lines.includes(code))?.[2];
}

function describe(one: Planted): string {
  const { file, text, mutant, line } = one;
  const change = `${text.slice(mutant.start, mutant.end)} → ${mutant.to}`;
  const why = reasonOf(one) ?? 'no reason yet: it wants a test';
  return `${file}:${line}  ${change}  |  ${changedLines(one).at(-1)?.trim()}\n    ${why}`;
}

function tally(name: string, tried: readonly Planted[], survivors: readonly Planted[]): string {
  const killed = tried.length - survivors.length;
  return `${name}: ${killed} of ${tried.length} mutants killed, ${((100 * killed) / tried.length).toFixed(1)} %`;
}

async function run(): Promise<void> {
  await bundle();
  const player = new Player();
  const survivors: Planted[] = [];
  try {
    for (const [id, one] of planted.entries()) {
      if (!isWanted(one) || (await player.play(id)) !== undefined) continue;
      survivors.push(one);
      console.log(`SURVIVED ${describe(one)}`);
    }
  } finally {
    player.end();
    rmSync(BUNDLE);
  }
  const tried = planted.filter(isWanted);
  for (const file of new Set(tried.map(({ file }) => file))) {
    const isIn = (one: Planted) => one.file === file;
    console.log(tally(file, tried.filter(isIn), survivors.filter(isIn)));
  }
  const known = survivors.filter((one) => reasonOf(one) !== undefined).length;
  console.log(`${tally('all', tried, survivors)}; ${known} of ${survivors.length} that live have a reason`);
}

if (values.help) console.log(USAGE);
else await run();

// The losses of each strategy on a real cluster: npm run bench:cluster -- --help
import { readFileSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { spreadOf } from '../../bench/figures.ts';
import { connect } from '../connect.ts';
import type { Destination } from '../destination.ts';
import { loadPosidle, loadStockImages } from '../images.ts';
import type { Acts, Playing, Report } from '../play.ts';
import { playStory } from '../play-story.ts';
import { SCENARIOS, type Scenario } from './scenarios.ts';
import { STRATEGIES, type Strategy } from './strategies.ts';

const USAGE = `npm run bench:cluster -- [options]   (KUBECONFIG or CLUSTER_UP names the cluster)
  --only A,B      these scenarios: ${SCENARIOS.map(({ name }) => name).join(', ')}
  --strategy A,B  these columns: ${STRATEGIES.map(({ name }) => name).join(', ')}
  --runs N        runs of each (default 1)
  --write         into test/cluster/README.md, where README's table is counted from`;

interface Result {
  readonly scenario: Scenario;
  readonly strategy: Strategy;
  readonly lost: number;
  readonly written: number;
  readonly tail: number;
  readonly words: readonly string[];
  readonly uses: readonly Use[];
}

/** The resources of one container. */
interface Use {
  readonly container: string;
  readonly cpuSeconds: number;
  readonly mebibytes: number;
}

/** From cgroups v2, else from v1. */
const CPU =
  "cd /sys/fs/cgroup; cat cpu.stat cpuacct/cpuacct.usage 2>/dev/null | awk '/^usage_usec/ { print $2 / 1e6; exit } NF == 1 { print $1 / 1e9 }'";
/** Without the page cache: it goes where memory is short. */
const MEMORY =
  'cd /sys/fs/cgroup; cat memory.stat memory/memory.stat 2>/dev/null | awk \'$1 == "anon" || $1 == "total_rss" { print $2; exit }\'';

const PAGE = 'test/cluster/README.md';
const TABLE = /(?<=<!-- bench:cluster -->)[\s\S]*(?=<!-- \/bench:cluster -->)/;

const { values } = parseArgs({
  options: {
    only: { type: 'string' },
    strategy: { type: 'string' },
    runs: { type: 'string', default: '1' },
    write: { type: 'boolean', default: false },
    help: { type: 'boolean', short: 'h', default: false },
  },
});

async function main(): Promise<void> {
  const scenarios = chosen(SCENARIOS, values.only);
  const strategies = chosen(STRATEGIES, values.strategy);
  const disconnect = await connect();
  if (typeof disconnect === 'string') throw new Error(disconnect);
  try {
    await loadStockImages();
    await loadPosidle();
    const results: Result[] = [];
    for (const scenario of scenarios) {
      // Side by side: a machine that is busy for a while is so for each column.
      for (let run = 0; run < Number(values.runs); run++) {
        for (const strategy of strategies) {
          const result = await runOnce(scenario, strategy).catch((error: Error) => error);
          if (!(result instanceof Error)) results.push(result);
          const said = result instanceof Error ? result.message : cell([result]);
          console.error(`${scenario.name} ${strategy.name}: ${said}`);
        }
      }
    }
    const table = markdown(results, strategies);
    console.log(table);
    if (values.write)
      writeFileSync(
        PAGE,
        readFileSync(PAGE, 'utf8').replace(TABLE, () => `\n${table}\n`),
      );
  } finally {
    disconnect();
  }
}

/** The items with the comma-separated names, or all items without names. */
function chosen<T extends { readonly name: string }>(
  all: readonly T[],
  names: string | undefined,
): readonly T[] {
  const list = names?.split(',') ?? all.map(({ name }) => name);
  const unknown = list.filter((name) => !all.some((one) => one.name === name));
  if (unknown.length > 0) throw new Error(`there is no ${unknown.join(', ')}\n${USAGE}`);
  return all.filter(({ name }) => list.includes(name));
}

async function runOnce(scenario: Scenario, strategy: Strategy): Promise<Result> {
  let uses: readonly Use[] = [];
  const measure = (destination: Destination): Acts => ({
    during: async (pod) => {
      await destination.reaches(scenario.lines ?? 0);
      uses = await measured(pod, strategy);
    },
  });
  const story = scenario.isMeasured ? { ...scenario, acts: measure } : scenario;
  const { report, lost, written } = await playStory(story, strategy);
  if (report.containers.posidle?.message === '') console.error(report.containers.posidle.log);
  return { scenario, strategy, lost, written, tail: report.tail, words: wordsOf(report), uses };
}

/** Ten seconds of what the kernel counts for the containers beside main. */
async function measured(pod: Playing, { hasPosidle }: Strategy): Promise<readonly Use[]> {
  const containers = ['fluentd', ...(hasPosidle ? ['posidle'] : [])];
  const read = (script: string) =>
    Promise.all(containers.map(async (name) => Number(await pod.exec(name, script))));
  const before = await read(CPU);
  await sleep(10_000);
  const after = await read(CPU);
  const bytes = await read(MEMORY);
  return containers.map((container, n) => ({
    container,
    cpuSeconds: (after[n] ?? 0) - (before[n] ?? 0),
    mebibytes: (bytes[n] ?? 0) / 2 ** 20,
  }));
}

/** posidle's outcome, or that Fluentd was killed. */
function wordsOf({ containers }: Report): string[] {
  const killed = containers.fluentd?.code === 137 ? ['SIGKILL'] : [];
  const message = containers.posidle?.message;
  if (message === undefined) return killed;
  try {
    const { outcome: drained } = JSON.parse(message) as { outcome: string };
    return [drained, ...killed];
  } catch {
    return [`no outcome: ${message}`, ...killed];
  }
}

function markdown(results: readonly Result[], strategies: readonly Strategy[]): string {
  const rows = [...new Set(results.map(({ scenario }) => scenario))].map((scenario) => {
    const cells = strategies.map((strategy) =>
      cell(results.filter((result) => result.scenario === scenario && result.strategy === strategy)),
    );
    return [scenario.title, ...cells];
  });
  const titles = ['scenario', ...strategies.map(({ title }) => title)];
  return [titles, titles.map(() => '---'), ...rows].map((line) => `| ${line.join(' | ')} |`).join('\n');
}

function cell(results: readonly Result[]): string {
  if (results.length === 0) return '';
  const lost = [...new Set(results.map((result) => result.lost))].map((n) => n.toLocaleString('en'));
  const written = [...new Set(results.map((result) => result.written))].map((n) => n.toLocaleString('en'));
  const words = [...new Set(results.flatMap((result) => result.words))];
  const loss = lost.join() === '0' ? '0' : `**${lost.join('–')} of ${written.join('–')}**`;
  return [loss, tailsOf(results), ...words, ...usesOf(results)].join(' · ');
}

function tailsOf(results: readonly Result[]): string {
  const tails = results.map(({ tail }) => tail);
  const each = `${tails.map((tail) => tail.toFixed(1)).join(', ')} s`;
  return tails.length < 2 ? each : `median ${spreadOf(tails).median.toFixed(2)} s of ${each}`;
}

function usesOf(results: readonly Result[]): string[] {
  const uses = results.flatMap((result) => result.uses);
  return [...new Set(uses.map(({ container }) => container))].map((name) => {
    const own = uses.filter(({ container }) => container === name);
    const cpu = spreadOf(own.map(({ cpuSeconds }) => cpuSeconds)).median * 10;
    const memory = spreadOf(own.map(({ mebibytes }) => mebibytes)).median;
    return `${name}: ${cpu.toFixed(2)} % of a CPU, ${memory.toFixed(1)} MiB`;
  });
}

if (values.help) console.log(USAGE);
else await main();

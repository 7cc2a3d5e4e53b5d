// What each strategy loses on a real cluster: npm run bench:cluster -- --help
import { parseArgs } from 'node:util';
import { BUNDLE } from '../../pods/bundle.ts';
import type { Manifest } from '../../pods/kubernetes.ts';
import { configMap } from '../../pods/kustomize.ts';
import { connect } from '../connect.ts';
import { Destination } from '../destination.ts';
import { loadStockImages } from '../images.ts';
import { play, type Report } from '../play.ts';
import { SCENARIOS, type Scenario } from './scenarios.ts';
import { manifestsOf, STRATEGIES, type Strategy } from './strategies.ts';

const USAGE = `npm run bench:cluster -- [options]   (KUBECONFIG or CLUSTER_UP names the cluster)
  --only A,B      these scenarios: ${SCENARIOS.map(({ name }) => name).join(', ')}
  --strategy A,B  these columns: ${STRATEGIES.map(({ name }) => name).join(', ')}
  --runs N        runs of each (default 1)`;

interface Result {
  readonly scenario: Scenario;
  readonly strategy: Strategy;
  readonly lost: number;
  readonly tail: number;
  readonly words: readonly string[];
}

const { values } = parseArgs({
  options: {
    only: { type: 'string' },
    strategy: { type: 'string' },
    runs: { type: 'string', default: '1' },
    help: { type: 'boolean', short: 'h', default: false },
  },
});

async function main(): Promise<void> {
  const scenarios = chosen(SCENARIOS, values.only);
  const strategies = chosen(STRATEGIES, values.strategy);
  const disconnect = connect();
  if (typeof disconnect === 'string') throw new Error(disconnect);
  try {
    await loadStockImages();
    const posidle = configMap('posidle', [BUNDLE]);
    const results: Result[] = [];
    for (const scenario of scenarios) {
      for (const strategy of strategies) {
        for (let run = 0; run < Number(values.runs); run++) {
          const result = await runOnce(scenario, strategy, posidle).catch((error: Error) => error);
          if (!(result instanceof Error)) results.push(result);
          const said = result instanceof Error ? result.message : cell([result]);
          console.error(`${scenario.name} ${strategy.name}: ${said}`);
        }
      }
    }
    console.log(markdown(results, strategies));
  } finally {
    disconnect();
  }
}

/** Those that the comma-separated names name; all without names. */
function chosen<T extends { readonly name: string }>(
  all: readonly T[],
  names: string | undefined,
): readonly T[] {
  const list = names?.split(',') ?? all.map(({ name }) => name);
  const unknown = list.filter((name) => !all.some((one) => one.name === name));
  if (unknown.length > 0) throw new Error(`there is no ${unknown.join(', ')}\n${USAGE}`);
  return all.filter(({ name }) => list.includes(name));
}

async function runOnce(scenario: Scenario, strategy: Strategy, posidle: Manifest): Promise<Result> {
  const destination = await Destination.start();
  try {
    const manifests = manifestsOf(scenario, strategy, destination.endpoint, posidle);
    const report = await play(manifests, scenario.acts?.(destination));
    const lost = scenario.lines - destination.lines.size;
    if (report.containers.posidle?.message === '') console.error(report.containers.posidle.log);
    return { scenario, strategy, lost, tail: report.tail, words: wordsOf(report) };
  } finally {
    destination.stop();
  }
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
  const written = results[0]?.scenario.lines.toLocaleString('en');
  const tails = results.map(({ tail }) => tail.toFixed(1));
  const words = [...new Set(results.flatMap((result) => result.words))];
  const loss = lost.join() === '0' ? '0' : `**${lost.join('–')} of ${written}**`;
  return [`${loss} · ${tails.join(', ')} s`, ...words].join(' · ');
}

if (values.help) console.log(USAGE);
else await main();

// The loss matrix on real Fluentd: npm run bench:loss -- --help
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { cells, type Result, runCell, type Selection } from './matrix.ts';
import { markdown } from './report.ts';

const USAGE = `npm run bench:loss -- [options]
  --scale N      scales --time and --volume both
  --time N       scales windows, flush and refresh intervals, silences (1 = 60 s windows; default 0.1)
  --volume N     scales bursts, slow sends, outages (1 = 2,000,000 lines; default 1)
  --only 3,7     these scenarios
  --strategy A,B posidle, interval-script, sigkill-on-marker, sigterm
  --triggers     posidle with each trigger instead: by-done-file, by-done-process, by-http, by-sigterm, by-quiet
  --version A,B  Fluentd versions (default: all that are installed)
  --runs N       runs of each (default 1)
  --json         results as JSON on stdout, one object a line, as they come
  --render FILE  run nothing: the table of results that --json printed before; repeatable
  --keep         keep the directory of a run that lost something`;

const { values } = parseArgs({
  options: {
    scale: { type: 'string' },
    time: { type: 'string' },
    volume: { type: 'string' },
    only: { type: 'string' },
    strategy: { type: 'string' },
    version: { type: 'string' },
    triggers: { type: 'boolean', default: false },
    runs: { type: 'string', default: '1' },
    json: { type: 'boolean', default: false },
    render: { type: 'string', multiple: true },
    keep: { type: 'boolean', default: false },
    help: { type: 'boolean', short: 'h', default: false },
  },
});

const list = (text: string | undefined) => text?.split(',').map((word) => word.trim());

function positive(name: string, text: string): number {
  const number = Number(text);
  if (!(number > 0)) throw new Error(`--${name} ${text}: a number above 0 is needed`);
  return number;
}

function selection(): Selection {
  const only = list(values.only)?.map(Number);
  const strategy = list(values.strategy);
  const version = list(values.version);
  return {
    time: positive('time', values.time ?? values.scale ?? '0.1'),
    volume: positive('volume', values.volume ?? values.scale ?? '1'),
    runs: positive('runs', values.runs),
    keep: values.keep,
    triggers: values.triggers,
    ...(only && { only }),
    ...(strategy && { strategy }),
    ...(version && { version }),
  };
}

function progress({ scenario, version, strategy, run, ...result }: Result): string {
  const { lost, written, onDisk, duplicates, signalled, seconds } = result;
  const told = signalled === undefined ? '' : `stop signal at ${signalled} s, `;
  const counts = `lost ${lost} of ${written}, on disk ${onDisk}, twice ${duplicates}, ${told}${seconds} s`;
  const where = result.dir === undefined ? '' : `, kept in ${result.dir}`;
  const broken = result.broken.map((breach) => `; BROKEN: ${breach}`).join('');
  return `${scenario} ${version} ${strategy} #${run}: ${counts}${where}${broken}`;
}

async function main(): Promise<void> {
  const chosen = selection();
  const all = cells(chosen);
  if (all.length === 0) throw new Error('nothing to run: is Fluentd installed (.ci/install-fluentd)?');
  const results: Result[] = [];
  for (const cell of all) {
    const result = await runCell(cell, chosen);
    results.push(result);
    console.error(progress(result));
    if (values.json) console.log(JSON.stringify(result));
  }
  if (!values.json) console.log(markdown(results));
  process.exitCode = results.some(({ broken }) => broken.length > 0) ? 1 : 0;
}

function saved(path: string): Result[] {
  const lines = readFileSync(path, 'utf8').trimEnd().split('\n');
  return lines.map((line): Result => JSON.parse(line));
}

if (values.help) console.log(USAGE);
else if (values.render) console.log(markdown(values.render.flatMap(saved)));
else await main();

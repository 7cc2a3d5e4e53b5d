// What posidle costs: npm run bench -- --help
import { parseArgs } from 'node:util';
import { markdown } from './report.ts';
import { BENCHES, type Row, type Settings } from './rows.ts';

const USAGE = `npm run bench -- [options]
  --only A,B      these: ${BENCHES.map(({ name }) => name).join(', ')}
  --runs N        measurements of each; ten times as many of a start (default 5)
  --span N        seconds of one measurement at rest; three times as long beside the exporter (default 10)
  --warm-up N     seconds before the first of them (default 60: V8 compiles what is hot; memory still grows after that)
  --bundle FILE   the bundle (default dist/posidle.cjs)
  --against FILE  another one, measured in the same run
  --json          the figures, one object a line, as they come`;

const { values } = parseArgs({
  options: {
    only: { type: 'string' },
    runs: { type: 'string', default: '5' },
    span: { type: 'string', default: '10' },
    'warm-up': { type: 'string', default: '60' },
    bundle: { type: 'string', default: 'dist/posidle.cjs' },
    against: { type: 'string' },
    json: { type: 'boolean', default: false },
    help: { type: 'boolean', short: 'h', default: false },
  },
});

async function main(): Promise<void> {
  const only = values.only?.split(',') ?? BENCHES.map(({ name }) => name);
  const unknown = only.find((name) => !BENCHES.some((bench) => bench.name === name));
  if (unknown !== undefined) throw new Error(`--only ${unknown}: there is no such figure\n${USAGE}`);
  const { bundle, against } = values;
  const bundles = { posidle: bundle, ...(against !== undefined && { against }) };
  const [runs, span, warmUp] = [values.runs, values.span, values['warm-up']].map(Number) as [
    number,
    number,
    number,
  ];
  const settings: Settings = { bundles, runs, span, warmUp };
  const rows: Row[] = [];
  for (const bench of BENCHES.filter(({ name }) => only.includes(name))) {
    const found = await bench.run(settings);
    if (values.json) for (const row of found) console.log(JSON.stringify(row));
    rows.push(...found);
  }
  if (!values.json) console.log(markdown(rows));
}

if (values.help) console.log(USAGE);
else await main();

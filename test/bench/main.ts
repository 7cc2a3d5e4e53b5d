// The costs of posidle: npm run bench -- --help
import { parseArgs } from 'node:util';
import { report } from './report.ts';
import { BENCHES, type Row } from './rows.ts';

const USAGE = `npm run bench -- [options]
  --only A,B      these: ${BENCHES.map(({ name }) => name).join(', ')}
  --runs N        measurements of each (default 5)`;

const { values } = parseArgs({
  options: {
    only: { type: 'string' },
    runs: { type: 'string', default: '5' },
    help: { type: 'boolean', short: 'h', default: false },
  },
});

async function main(): Promise<void> {
  const only = values.only?.split(',') ?? BENCHES.map(({ name }) => name);
  const unknown = only.find((name) => !BENCHES.some((bench) => bench.name === name));
  if (unknown !== undefined) throw new Error(`--only ${unknown}: there is no such figure\n${USAGE}`);
  const rows: Row[] = [];
  for (const bench of BENCHES.filter(({ name }) => only.includes(name))) {
    console.error(`measuring ${bench.name}: it may take minutes`);
    rows.push(...(await bench.run(Number(values.runs))));
  }
  console.log(report(rows));
}

if (values.help) console.log(USAGE);
else await main();

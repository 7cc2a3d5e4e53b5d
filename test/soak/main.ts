// Hours beside a busy Fluentd: npm run soak -- --help
import { parseArgs } from 'node:util';
import { NEWEST } from '../support/real-fluentd.ts';
import { report } from './report.ts';
import { soak } from './soak.ts';

const USAGE = `npm run soak -- [options]
  --minutes N   how long main writes (default 120)
  --files N     log files; each is rotated once a minute (default 50)
  --rate N      lines a second into each of them (default 10)
  --version V   of Fluentd (default ${NEWEST})
Prints a line each minute, at the end a table and a verdict. Exits with 1 if a line is missing, posidle does not end as
"drained", or its memory, its descriptors or its series grew.`;

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '120' },
    files: { type: 'string', default: '50' },
    rate: { type: 'string', default: '10' },
    version: { type: 'string', default: NEWEST },
    help: { type: 'boolean', short: 'h', default: false },
  },
});

function positive(name: 'minutes' | 'files' | 'rate'): number {
  const number = Number(values[name]);
  if (!(number > 0)) throw new Error(`--${name} ${values[name]}: a number above 0 is needed`);
  return number;
}

async function main(): Promise<void> {
  const { version } = values;
  const [minutes, files, rate] = [positive('minutes'), positive('files'), positive('rate')];
  const { text, faults } = report(await soak({ version, minutes, files, rate }, console.log));
  console.log(text);
  process.exitCode = faults.length > 0 ? 1 : 0;
}

if (values.help) console.log(USAGE);
else await main();

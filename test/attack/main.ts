// Random deeds on real Fluentd, to get "drained" for a lost line: npm run attack -- --help
import { parseArgs } from 'node:util';
import { type Attacked, attack } from './attack.ts';

const USAGE = `npm run attack -- [options]
  --seeds N      so many set-ups (default 20)
  --from N       the first seed (default 1); a seed makes the same set-up, and nearly the same times
  --version V    of Fluentd (default 1.18.0)
  --jobs N       so many at a time (default 3)
  --signals      also kill, restart and reload Fluentd
Each is told in a line: seed, word, lines lost of lines written, what is left or doubted. "FALSE": drained, and a line is lost.
"untrue": not drained, and none is. "needless": unproven, and none is.`;

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '20' },
    from: { type: 'string', default: '1' },
    version: { type: 'string', default: '1.18.0' },
    jobs: { type: 'string', default: '3' },
    signals: { type: 'boolean', default: false },
    help: { type: 'boolean', short: 'h', default: false },
  },
});
if (values.help) console.log(USAGE);
else process.exitCode = (await attackAll()) ? 0 : 1;

async function attackAll(): Promise<boolean> {
  const { version, signals } = values;
  const seeds = Array.from({ length: Number(values.seeds) }, (_, index) => Number(values.from) + index);
  const found: Attacked[] = [];
  const attacker = async () => {
    for (let seed = seeds.shift(); seed !== undefined; seed = seeds.shift()) {
      const one = await attack(seed, { version, signals });
      found.push(one);
      console.log(told(seed, one));
    }
  };
  await Promise.all(Array.from({ length: Number(values.jobs) }, attacker));
  const many = (verdict: Attacked['verdict']) => found.filter((one) => one.verdict === verdict).length;
  console.log(
    `Fluentd ${version}: ${found.length} set-ups, ${many('FALSE')} FALSE, ${many('untrue')} untrue, ${many('needless')} needless`,
  );
  return many('FALSE') === 0;
}

function told(seed: number, { word, lost, written, kinds, verdict, deeds, conf }: Attacked): string {
  const line = `${seed} ${word}, lost ${lost.length} of ${written} [${kinds.join(' ')}] ${verdict}`;
  return verdict === '' ? line : `${line}\n  ${deeds.join(', ')}\n${conf}`;
}

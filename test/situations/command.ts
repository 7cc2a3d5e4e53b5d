// One situation, or all: npm run situation -- --help
import { parseArgs } from 'node:util';
import type { Ended } from '../support/deliver.ts';
import { Site } from '../support/delivery-site.ts';
import { NEWEST } from '../support/real-fluentd.ts';
import { faultsOf } from './judge.ts';
import { type Alone, measuredAlone, writePage } from './page.ts';
import { play, playAlone } from './play.ts';
import { Recorder } from './recorder.ts';
import { planOf, simulate } from './simulated.ts';
import type { Entry, Road } from './situation.ts';
import { roadOn, SITUATIONS } from './table.ts';

const USAGE = `npm run situation -- NAME [options]
  --fluentd VERSION  (default ${NEWEST})
  --world W          process: real Fluentd, the default; simulation; alone: real Fluentd without posidle
  --road R           run, watch or drain; by default the one on which the tests play it on this version
  --all              every situation, in the worlds that it has: the track record
  --write            with --world alone or --all: into test/situations/README.md
Shows what was written, what arrived, and posidle's outcome; in the process also the lines on their way.
Pods: npm run test:cluster. Names:
${SITUATIONS.map(({ name, what }) => `  ${name.padEnd(27)} ${what}`).join('\n')}`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    fluentd: { type: 'string', default: NEWEST },
    world: { type: 'string', default: 'process' },
    road: { type: 'string' },
    all: { type: 'boolean', default: false },
    write: { type: 'boolean', default: false },
    help: { type: 'boolean', short: 'h', default: false },
  },
});

type World = (situation: Entry) => Promise<readonly string[]>;
const WORLDS: Readonly<Record<string, World>> = {
  process: inProcess,
  simulation: inSimulation,
  alone: async (situation) => {
    const { lost, written } = await alone(situation);
    console.log(`written ${written}, lost ${lost}`);
    if (values.write) writePage({ ...measuredAlone(), [situation.name]: { lost, written } });
    return [];
  },
};
const JOBS = 3;

const chosen = values.all ? SITUATIONS : SITUATIONS.filter(({ name }) => positionals.includes(name));
const unknown = positionals.find((name) => !SITUATIONS.some((one) => one.name === name));
const world = WORLDS[values.world];
if (values.help || unknown !== undefined || chosen.length === 0 || world === undefined) {
  console.log(unknown === undefined ? USAGE : `There is no situation ${unknown}.\n${USAGE}`);
  process.exitCode = values.help ? 0 : 2;
} else process.exitCode = (await (values.all ? playAll() : playEach(world))) ? 0 : 1;

async function playEach(how: World): Promise<boolean> {
  let areRight = true;
  for (const situation of chosen) {
    console.log(`${situation.name}: ${situation.what}`);
    const faults = await how(situation);
    for (const fault of faults) console.log(`✗ ${fault}`);
    if (how === inSimulation && planOf(situation) === undefined)
      console.log('– not in the model of the simulation');
    else if (faults.length === 0 && how !== WORLDS['alone']) console.log('✓ as the table says');
    areRight &&= faults.length === 0;
  }
  return areRight;
}

async function playAll(): Promise<boolean> {
  const left = [...chosen];
  const measured: Record<string, Alone> = {};
  let areRight = true;
  const player = async () => {
    for (let next = left.shift(); next !== undefined; next = left.shift()) {
      const faults = [...(await inProcess(next, false)), ...(await inSimulation(next))];
      const { lost, written } = await alone(next);
      measured[next.name] = { lost, written };
      const word = faults.length === 0 ? '✓' : `✗ ${faults.join(', ')}`;
      console.log(`${next.name}: ${word} (alone: ${lost} of ${written} lost)`);
      areRight &&= faults.length === 0;
    }
  };
  await Promise.all(Array.from({ length: JOBS }, player));
  if (values.write) writePage(measured);
  return areRight;
}

async function inProcess(situation: Entry, isTold = true): Promise<readonly string[]> {
  const version = values.fluentd;
  const road = (values.road ?? roadOn(version, situation)) as Road;
  return await Site.use(async (site) => {
    const recorder = isTold ? new Recorder(site) : undefined;
    const ended = await play(site, situation, { version, road });
    for (const line of recorder?.end(ended) ?? []) console.log(line);
    if (isTold) console.log(toldOf(ended, site.lines.written));
    return faultsOf(situation, ended);
  });
}

function toldOf({ outcome, delivered, code }: Ended, written: number): string {
  const named = [...(outcome?.left.worst ?? []), ...(outcome?.doubts.worst ?? [])];
  return [
    `written ${written}, arrived ${delivered}, lost ${written - delivered}`,
    `posidle: ${outcome?.outcome}, exit code ${code}`,
    ...named.map((one) => `  ${JSON.stringify(one)}`),
  ].join('\n');
}

async function inSimulation(situation: Entry): Promise<readonly string[]> {
  const plan = planOf(situation);
  return plan === undefined ? [] : await simulate(situation, plan);
}

async function alone(situation: Entry): Promise<Alone> {
  return await Site.use(async (site) => {
    const lost = await playAlone(site, situation, values.fluentd);
    return { lost, written: site.lines.written };
  });
}

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type Delivery,
  drainDelivery,
  type Ended,
  runDelivery,
  startBeside,
  watchDelivery,
} from '../support/deliver.ts';
import type { Site } from '../support/delivery-site.ts';
import { type Params, type Section, tail } from '../support/fluentd-conf.ts';
import { witnessIn } from '../support/real-fluentd.ts';
import { Main } from './main.ts';
import { toDestination } from './sections.ts';
import type { Deed, Road, Setup, Situation } from './situation.ts';

/** Stand-ins for plugins of others, such as concat. */
const PLUGINS = ['-I', resolve('test/witness/lib')];

/** The log of main, which is there before Fluentd is. */
const LOG: Deed = ['write', 'app.log', 0];
/** The kubelet looks at containers once a second (ms). */
const NOTICED = 1_000;

interface How {
  readonly version: string;
  readonly road: Road;
}

/** A situation on a real Fluentd, with posidle. */
export async function play(site: Site, situation: Situation, { version, road }: How): Promise<Ended> {
  const { first, main, rest } = chapters(situation.deeds);
  const { args = [], witness = true } = situation;
  let output = () => logOf(site);
  let later: Promise<void> = Promise.resolve();
  const deeds = new Main(site, () => output(), witness);
  const delivery: Delivery = {
    version,
    conf: sectionsOf(situation.setup ?? {}, site),
    fluentdArgs: PLUGINS,
    witness,
    before: () => deeds.perform([LOG, ...first]),
  };
  const end = () => {
    if (road !== 'drain') writeFileSync(site.marker, '');
    later = deeds.perform(rest);
    later.catch(() => undefined);
  };
  const ended = await (() => {
    if (road === 'drain') return drainDelivery(site, { ...delivery, end }, () => deeds.perform(main));
    const beside: Delivery = {
      ...delivery,
      args: [...(road === 'run' ? ['--witness', witness ? witnessIn(site.dir) : 'off'] : []), ...args],
      main: async (posidle) => {
        if (road === 'run') output = posidle.stdout;
        await deeds.perform(main);
      },
      end,
    };
    return road === 'run' ? runDelivery(site, beside) : watchDelivery(site, beside);
  })();
  await later;
  return ended;
}

/** The same beside a Fluentd alone, which the kubelet stops when main has ended. Gives the lines that are lost. */
export async function playAlone(site: Site, situation: Situation, version: string): Promise<number> {
  const { first, main, rest } = chapters(situation.deeds);
  const deeds = new Main(site, () => logOf(site), false);
  await deeds.perform([LOG, ...first]);
  const conf = sectionsOf(situation.setup ?? {}, site);
  const fluentd = startBeside(site, { version, conf, fluentdArgs: PLUGINS, witness: false });
  await fluentd.ready;
  await deeds.perform(main);
  const later = deeds.perform(rest);
  await sleep(NOTICED);
  await Promise.all([fluentd.stop(), later]);
  return site.lines.written - site.delivered();
}

function logOf({ dir }: Site): string {
  const path = join(dir, 'fluentd.log');
  return existsSync(path) ? readFileSync(path, 'utf8') : '';
}

interface Chapters {
  readonly first: readonly Deed[];
  readonly main: readonly Deed[];
  readonly rest: readonly Deed[];
}

/** Before Fluentd starts, while main runs, and after its end. */
function chapters(deeds: readonly Deed[]): Chapters {
  const start = deeds.findIndex(([what]) => what === 'Fluentd starts');
  const found = deeds.findIndex(([what]) => what === 'main ends');
  const end = found < 0 ? deeds.length : found;
  return {
    first: deeds.slice(0, Math.max(start, 0)),
    main: deeds.slice(start + 1, end),
    rest: deeds.slice(end + 1),
  };
}

function sectionsOf(setup: Setup, site: Site): readonly Section[] {
  const {
    tail: params,
    parse,
    inTail = [],
    before = [],
    between = [],
    after = [],
    output,
    buffer,
    system,
  } = setup;
  const source = tail(site.log('*.log'), site.pos, { refresh_interval: '1s', ...params }, [...inTail]);
  const [plain, ...sections] = source.sections ?? [];
  const parser: Section = parse === undefined ? (plain as Section) : { name: 'parse', params: parse };
  const all = [
    // Chunks that are put aside would be with those of all tests, in /tmp/fluent.
    { name: 'system', params: { root_dir: '{dir}/root', ...system } },
    ...before,
    { ...source, sections: [parser, ...sections] },
    ...between,
    output ??
      toDestination(buffer?.['flush_mode'] === undefined ? { flush_interval: '1s', ...buffer } : buffer),
    ...after,
  ];
  return all.map((section) => filledIn(section, namesIn(site)));
}

function namesIn({ dir, sink, rpcPort }: Site): Readonly<Record<string, string>> {
  return { dir, port: String(sink.port), rpc: String(rpcPort) };
}

function filledIn(section: Section, names: Readonly<Record<string, string>>): Section {
  const fill = (value: Params[string]) =>
    typeof value === 'string' ? value.replace(/\{(dir|port|rpc)\}/g, (_, name) => names[name] ?? '') : value;
  const params = Object.entries(section.params ?? {}).map(([key, value]) => [key, fill(value)] as const);
  return {
    ...section,
    params: Object.fromEntries(params),
    sections: (section.sections ?? []).map((one) => filledIn(one, names)),
  };
}

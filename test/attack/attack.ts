import { writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Outcome } from '../../src/core/drain/outcome.ts';
import { Random } from '../simulation/random.ts';
import { Site } from '../support/delivery-site.ts';
import { renderConf } from '../support/fluentd-conf.ts';
import { processesNaming, workersOf } from '../support/own-processes.ts';
import { startPosidle } from '../support/posidle.ts';
import { READY_LINE, requireFluentd } from '../support/real-fluentd.ts';
import { until } from '../support/until.ts';
import { Main } from './deeds.ts';
import { sectionsOf } from './setup.ts';

export interface Attacked {
  readonly word: string;
  /** Ids of lines. */
  readonly lost: readonly number[];
  readonly written: number;
  /** Everything left or doubted. */
  readonly kinds: readonly string[];
  readonly verdict: 'FALSE' | 'untrue' | 'needless' | '';
  readonly deeds: readonly string[];
  readonly conf: string;
}

interface How {
  readonly version: string;
  readonly signals: boolean;
}

/** One set-up from its start to its end. */
export async function attack(seed: number, { version, signals }: How): Promise<Attacked> {
  const random = new Random(seed);
  const site = await Site.open();
  try {
    const { command, env } = requireFluentd(version);
    const conf = renderConf(sectionsOf(site, random));
    writeFileSync(site.conf, conf);
    const main = new Main(site, random);
    main.write('a.log', 5);
    const options = ['-c', site.conf, '--done-file', site.marker, '--drain-timeout', '10s'];
    const more = ['--termination-log', site.termination, '--stop-timeout', '20s', '--log-format', 'json'];
    const posidle = startPosidle(['run', ...options, ...more, '--', command, '-c', site.conf], {
      env: { ...env, FLUENT_BACKUP_DIR: site.backup },
      cwd: site.dir,
    });
    await until('Fluentd runs', () => posidle.stdout().includes(READY_LINE), { within: 60_000 });
    const deeds: string[] = [];
    const haste = random.pick([0.2, 0.6, 0.9]);
    for (let left = random.pick([3, 8, 15, 30]); left > 0; left -= 1) {
      if (random.chance(0.1)) deeds.push(`sink ${changeSink(site, random)}`);
      else if (signals && random.chance(0.15)) deeds.push(disturb(site, posidle.pid, random));
      else deeds.push(main.act());
      const pause = random.chance(haste) ? 0 : random.pick([5, 50, 150, 300, 1_200]);
      if (pause > 0) deeds.push(`${pause} ms`);
      await sleep(pause);
    }
    if (random.chance(0.8)) site.sink.phase = 'up';
    await sleep(random.pick([0, 300, 1_500, 6_000]));
    writeFileSync(site.marker, '');
    await posidle.exited;
    const outcome = posidle.log().find((line) => 'outcome' in line)?.['outcome'] as Outcome | undefined;
    const lost = main.lost();
    const word = outcome?.outcome ?? 'no outcome';
    const kinds = [...(outcome?.left.worst ?? []), ...(outcome?.doubts.worst ?? [])].map(({ kind }) => kind);
    return {
      word,
      lost,
      written: main.written,
      kinds,
      verdict: verdictOn(word, lost.length, kinds),
      deeds,
      conf,
    };
  } finally {
    await site.close();
  }
}

function verdictOn(word: string, lost: number, kinds: readonly string[]): Attacked['verdict'] {
  if (lost > 0) return word === 'drained' ? 'FALSE' : '';
  // A chunk may hold lines that were read twice.
  const isHeld = kinds.includes('held') || kinds.includes('given-up');
  if (word === 'not-drained') return isHeld ? '' : 'untrue';
  return word === 'unproven' ? 'needless' : '';
}

function changeSink({ sink }: Site, random: Random): string {
  sink.phase = random.pick(['up', 'up', 'refusing', 'rejecting', 'dead']);
  return sink.phase;
}

/** The harm to a Fluentd: its worker is killed or ended; it is restarted, reloaded or flushed. */
function disturb(site: Site, posidle: number, random: Random): string {
  const signal = random.pick(['SIGKILL', 'SIGTERM', 'SIGUSR2', 'SIGHUP', 'SIGUSR1']);
  const workers = workersOf(site.conf);
  const others = [posidle, ...workers];
  const supervisor = processesNaming(site.conf).find((pid) => !others.includes(pid));
  const pid = signal === 'SIGKILL' || signal === 'SIGTERM' ? workers[0] : supervisor;
  if (pid === undefined) return `(${signal})`;
  process.kill(pid, signal);
  return signal;
}

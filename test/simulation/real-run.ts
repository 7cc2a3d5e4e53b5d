import { existsSync, readFileSync, renameSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { basename } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Outcome } from '../../src/core/drain/outcome.ts';
import { parsePosFile } from '../../src/core/pos-file/pos-file.ts';
import { Site } from '../support/delivery-site.ts';
import {
  fileBuffer,
  memoryBuffer,
  renderConf,
  type Section,
  tail,
  toHttp,
  toStdout,
} from '../support/fluentd-conf.ts';
import type { SinkPhase } from '../support/http-sink.ts';
import { IdTally } from '../support/numbered-lines.ts';
import { type PosidleRun, startPosidle } from '../support/posidle.ts';
import { startFluentd, witnessIn } from '../support/real-fluentd.ts';
import type { Deed, DestinationState, Plan, Settings } from './plan.ts';
import { UP } from './playable.ts';

/** How a plan went, in the model or in reality. */
export interface Ending {
  /** The ids of the lines that arrived. */
  readonly delivered: ReadonlySet<number>;
  /** Lines read of each file that the pos file names, by its name. */
  readonly read: ReadonlyMap<string, number>;
  readonly outcome: Pick<Outcome, 'end' | 'outcome' | 'left' | 'doubts'> | undefined;
}

/** The format of NumberedLines. */
const LINE_BYTES = 100;
const PHASES: Readonly<Record<DestinationState, SinkPhase>> = {
  up: 'up',
  down: 'refusing',
  refusing: 'rejecting',
};

/** Plays a plan on a real Fluentd of this version, with the posidle of dist/. */
export async function playForReal({ settings, deeds }: Plan, version: string): Promise<Ending> {
  const site = await Site.open();
  try {
    const conf = renderConf(await sectionsOf(site, settings));
    const fluentd = startFluentd({ version, dir: site.dir, conf, witness: settings.hasWitness });
    await fluentd.ready;
    const posidle = startPosidle(['watch', '-c', site.conf, ...optionsOf(site, settings)], { cwd: '/' });
    await posidle.logged(/fluentd runs/, 90_000);
    const began = performance.now();
    let written = 0;
    for (const deed of deeds) {
      await sleep(Math.max(0, began + deed.at - UP - performance.now()));
      await perform(deed, site, posidle);
      if (deed.do === 'write') written += deed.lines;
    }
    await posidle.exited;
    const printed = new IdTally();
    printed.add(Buffer.from(fluentd.output()));
    const has = (id: number) => site.sink.tally.has(id) || printed.has(id);
    const ids = Array.from({ length: written }, (_, id) => id);
    const outcome = existsSync(site.termination) ? readFileSync(site.termination, 'utf8') : undefined;
    return {
      delivered: new Set(ids.filter(has)),
      read: readIn(site),
      outcome: outcome === undefined ? undefined : JSON.parse(outcome),
    };
  } finally {
    await site.close();
  }
}

async function sectionsOf(site: Site, settings: Settings): Promise<readonly Section[]> {
  const { buffer, flushInterval, flushAtShutdown, refreshInterval, rotateWait } = settings;
  const times = { refresh_interval: inSeconds(refreshInterval), rotate_wait: inSeconds(rotateWait) };
  const source = tail(site.log('*.log'), site.pos, times);
  const params = {
    flush_interval: inSeconds(flushInterval),
    flush_at_shutdown: flushAtShutdown,
    retry_forever: true,
    retry_randomize: false,
  };
  const section = buffer === 'file' ? fileBuffer(site.buffer, params) : memoryBuffer(params);
  return [
    // Below /tmp/fluent the chunks that one Fluentd puts aside look like another's.
    { name: 'system', params: { root_dir: `${site.dir}/root` } },
    source,
    buffer === 'none' ? toStdout() : toHttp(site.sink.port, section),
  ];
}

function optionsOf(site: Site, settings: Settings): readonly string[] {
  return [
    ...['--witness', settings.hasWitness ? witnessIn(site.dir) : 'off'],
    ...['--done-file', site.marker, '--termination-log', site.termination],
    ...['--quiet', settings.quiet === 'off' ? 'off' : seconds(settings.quiet)],
    ...['--start-timeout', seconds(settings.startTimeout)],
    ...['--drain-timeout', seconds(settings.drainTimeout), '--grace', seconds(settings.grace)],
    ...['--stop-timeout', seconds(settings.stopTimeout)],
  ];
}

/** Fluentd takes 0.5s for 5 s, and 0.5 for half a second (config/types.rb, time_value). */
function inSeconds(span: number): string {
  return String(span / 1_000);
}

function seconds(span: number): string {
  return `${span / 1_000}s`;
}

async function perform(deed: Deed, site: Site, posidle: PosidleRun): Promise<void> {
  switch (deed.do) {
    case 'write':
      return await site.write(basename(deed.file), deed.lines);
    case 'destination':
      site.sink.phase = PHASES[deed.is];
      return;
    case 'trigger':
      if (deed.by === 'SIGTERM') posidle.kill('SIGTERM');
      else writeFileSync(site.marker, '');
      return;
    case 'truncate':
    case 'remove':
    case 'rotate':
    case 'remove-rotated':
      meddle(deed.do, site.log(basename(deed.file)));
  }
}

function meddle(how: 'truncate' | 'remove' | 'rotate' | 'remove-rotated', path: string): void {
  if (how === 'remove-rotated') rmSync(`${path}.1`, { force: true });
  else if (!existsSync(path)) return;
  else if (how === 'rotate') renameSync(path, `${path}.1`);
  else if (how === 'remove') rmSync(path);
  else truncateSync(path);
}

function readIn(site: Site): ReadonlyMap<string, number> {
  const { entries } = parsePosFile(existsSync(site.pos) ? readFileSync(site.pos) : new Uint8Array());
  return new Map(
    entries.flatMap(({ path, position }) =>
      position === null ? [] : [[basename(path), position / LINE_BYTES] as const],
    ),
  );
}

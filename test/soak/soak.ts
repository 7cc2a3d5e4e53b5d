import { readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Site } from '../support/delivery-site.ts';
import { fileBuffer, renderConf, tail, toHttp } from '../support/fluentd-conf.ts';
import { freePort } from '../support/free-port.ts';
import { type PosidleRun, startPosidle } from '../support/posidle.ts';
import { type FluentdRun, startFluentd } from '../support/real-fluentd.ts';
import { Flapping } from './destination.ts';
import { Meter, type Sample, sizeOf, workerOf } from './samples.ts';
import { Writer } from './writer.ts';

export interface Soak {
  readonly version: string;
  readonly minutes: number;
  readonly files: number;
  /** Lines a second into each file. */
  readonly rate: number;
}

export interface Soaked extends Soak {
  /** Of `posidle watch`; null if a signal ended it. */
  readonly code: number | null;
  readonly outcome: string;
  readonly written: number;
  readonly delivered: number;
  readonly duplicates: number;
  readonly rotations: number;
  readonly outages: number;
  /** MiB in the buffer, once a minute. */
  readonly buffered: readonly number[];
  /** Series of single files in the exporter's answer, once a minute. */
  readonly series: readonly number[];
  readonly samples: Readonly<Record<Watched, readonly Sample[]>>;
  /** What `watch` logged that is no mere information. */
  readonly warnings: readonly string[];
  readonly drainSeconds: number;
  /** Requests for metrics that failed. */
  readonly unanswered: number;
}

export type Watched = 'watch' | 'export' | 'fluentd';

/** As the manifests start it. */
const BUNDLE = [process.execPath, resolve('dist/posidle.cjs')];
const SCRAPE = 10_000;
/** How long the destination stays away after main's end: what is left then is in the buffer, and must be waited for. */
const LAST_OUTAGE = 20_000;

/** Main writes, Fluentd reads and sends, posidle watches and exports; then main ends, and the destination is away. */
export async function soak(what: Soak, tell: (line: string) => void): Promise<Soaked> {
  const site = await Site.open();
  const ports = { watch: await freePort(), export: await freePort() };
  const fluentd = startFluentd({ version: what.version, dir: site.dir, conf: confOf(site) });
  const posidle = { watch: startWatch(site, ports.watch), export: startExport(site, ports.export) };
  const writer = new Writer(site.logs, { ...what, lines: site.lines });
  const flapping = new Flapping(site.sink);
  try {
    await fluentd.ready;
    await posidle.watch.logged(/→ watching|fluentd runs/, 120_000);
    const watched = new Observation(site, { fluentd, posidle, ports, tell });
    const observing = watched.run();
    await Promise.race([writer.writeFor(what.minutes * 60_000), observing, endedEarly(posidle)]);
    flapping.settle();
    flapping.goDown();
    await site.write('app-0.log', 1);
    watched.end();
    await observing;
    const ended = performance.now();
    writeFileSync(site.marker, '');
    await sleep(LAST_OUTAGE);
    flapping.comeBack();
    const code = await posidle.watch.exited;
    posidle.export.kill('SIGTERM');
    await posidle.export.exited;
    return {
      ...what,
      ...watched.figures(),
      code,
      outcome: outcomeOf(site, posidle.watch),
      written: site.lines.written,
      delivered: site.sink.tally.unique,
      duplicates: site.sink.tally.duplicates,
      rotations: writer.rotations,
      outages: flapping.outages,
      warnings: posidle.watch.log().flatMap(({ level, msg }) => (level === 'info' ? [] : [msg])),
      drainSeconds: Math.round((performance.now() - ended) / 1_000),
    };
  } finally {
    flapping.settle();
    await site.close();
  }
}

/** Takes a sample each minute, and asks for the metrics as Prometheus does. */
class Observation {
  readonly #site: Site;
  readonly #meters: Readonly<Record<Watched, Meter>>;
  readonly #ports: Readonly<Record<'watch' | 'export', number>>;
  readonly #tell: (line: string) => void;
  readonly #buffered: number[] = [];
  readonly #series: number[] = [];
  readonly #end = new AbortController();
  #unanswered = 0;

  constructor(site: Site, around: Around) {
    this.#site = site;
    this.#ports = around.ports;
    this.#tell = around.tell;
    this.#meters = {
      watch: new Meter(around.posidle.watch.pid),
      export: new Meter(around.posidle.export.pid),
      fluentd: new Meter(workerOf(around.fluentd.pid)),
    };
  }

  end(): void {
    this.#end.abort();
  }

  figures() {
    const { watch, export: exporter, fluentd } = this.#meters;
    const samples = { watch: watch.samples, export: exporter.samples, fluentd: fluentd.samples };
    return { unanswered: this.#unanswered, buffered: this.#buffered, series: this.#series, samples };
  }

  async run(): Promise<void> {
    const { signal } = this.#end;
    for (let scrape = 1; !signal.aborted; scrape += 1) {
      await sleep(SCRAPE, undefined, { signal }).catch(() => undefined);
      await this.#scrape('watch');
      const metrics = await this.#scrape('export');
      if (scrape % (60_000 / SCRAPE) === 0) this.#sample(scrape / (60_000 / SCRAPE), metrics);
    }
  }

  async #scrape(which: 'watch' | 'export'): Promise<string> {
    try {
      // Each on a connection of its own: one that is kept may be closed by posidle while a request is on its way.
      const headers = { connection: 'close' };
      const answer = await fetch(`http://127.0.0.1:${this.#ports[which]}/metrics`, { headers });
      return await answer.text();
    } catch {
      this.#unanswered += 1;
      return '';
    }
  }

  #sample(minute: number, metrics: string): void {
    const series = metrics.match(/^posidle_file_position_bytes\{/gm)?.length ?? 0;
    const buffered = sizeOf(this.#site.buffer);
    this.#series.push(series);
    this.#buffered.push(buffered);
    const told = Object.entries(this.#meters).map(([name, meter]) => `${name} ${inWords(meter.take())}`);
    const { lines, sink } = this.#site;
    const way = lines.written - sink.tally.unique;
    const destination = `destination ${sink.phase}, ${buffered.toFixed(1)} MiB buffered`;
    const counts = `${lines.written} lines written, ${way} on their way, ${series} series`;
    this.#tell(`minute ${minute}: ${counts}; ${destination}; ${told.join('; ')}`);
  }
}

interface Around {
  readonly fluentd: FluentdRun;
  readonly posidle: Readonly<Record<'watch' | 'export', PosidleRun>>;
  readonly ports: Readonly<Record<'watch' | 'export', number>>;
  readonly tell: (line: string) => void;
}

async function endedEarly({ watch, export: exporter }: Around['posidle']): Promise<never> {
  const code = await Promise.race([watch.exited, exporter.exited]);
  throw new Error(`posidle ended before main, with ${code}:\n${watch.stderr()}\n${exporter.stderr()}`);
}

function inWords({ memory, descriptors, cpu }: Sample): string {
  return `${memory.toFixed(1)} MiB, ${descriptors} descriptors, ${cpu.toFixed(1)} % CPU`;
}

function confOf(site: Site): string {
  const buffer = fileBuffer(site.buffer, {
    flush_interval: '1s',
    retry_max_interval: '5s',
    retry_forever: true,
  });
  return renderConf([
    tail(site.log('*.log'), site.pos, { refresh_interval: '5s' }),
    toHttp(site.sink.port, buffer),
  ]);
}

function startWatch(site: Site, port: number): PosidleRun {
  const triggers = ['--done-file', site.marker, '--quiet', 'off'];
  const listen = ['--listen', `127.0.0.1:${port}`];
  const args = ['watch', '-c', site.conf, ...triggers, ...listen];
  return startPosidle([...args, '--termination-log', site.termination, '--strict'], { wrapper: BUNDLE });
}

function startExport(site: Site, port: number): PosidleRun {
  const args = ['export', '-c', site.conf, '--listen', `127.0.0.1:${port}`, '--per-file', '1000'];
  return startPosidle(args, { wrapper: BUNDLE });
}

function outcomeOf(site: Site, watch: PosidleRun): string {
  try {
    return readFileSync(site.termination, 'utf8').trim();
  } catch {
    return watch.stderr().slice(-2_000);
  }
}

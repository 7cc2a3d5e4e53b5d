import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from './free-port.ts';
import { HttpSink } from './http-sink.ts';
import { IdTally, NumberedLines } from './numbered-lines.ts';
import { killProcesses, processesNaming } from './own-processes.ts';
import { until } from './until.ts';

/** A directory for all that one Fluentd works on, and its destinations: `sink` for out_http, `out` for out_file. */
export class Site {
  readonly dir = mkdtempSync(join(tmpdir(), 'posidle-delivered-'));
  readonly logs = join(this.dir, 'logs');
  readonly pos = join(this.dir, 'app.pos');
  readonly buffer = join(this.dir, 'buffer');
  readonly conf = join(this.dir, 'fluent.conf');
  readonly marker = join(this.dir, 'done');
  /** The pid of the last Fluentd that was started beside posidle. */
  readonly pidFile = join(this.dir, 'fluentd.pid');
  readonly termination = join(this.dir, 'termination');
  readonly backup = join(this.dir, 'backup');
  /** The `path` of an out_file. */
  readonly out = join(this.dir, 'out', 'app');
  readonly lines = new NumberedLines();
  readonly sink: HttpSink;
  /** Of Fluentd's HTTP RPC. */
  readonly rpcPort: number;
  /** Fluentd's log, if posidle started it, and posidle's, once it has ended. */
  told = '';
  #isMounted = false;
  readonly #endings: (() => unknown)[] = [];

  private constructor(sink: HttpSink, rpcPort: number) {
    this.sink = sink;
    this.rpcPort = rpcPort;
    mkdirSync(this.logs);
  }

  static async open(): Promise<Site> {
    return new Site(await HttpSink.start(), await freePort());
  }

  /** A site that is closed at the end. */
  static async use<T>(work: (site: Site) => Promise<T>): Promise<T> {
    const site = await Site.open();
    try {
      return await work(site);
    } finally {
      await site.close();
    }
  }

  log(name: string): string {
    return join(this.logs, name);
  }

  write(name: string, count: number): Promise<void> {
    return this.lines.append(this.log(name), count);
  }

  /** Waits until in_tail's pos file has an entry of this file, with nothing left to read. */
  async isRead(name: string): Promise<void> {
    await until(`${name} is read`, () => {
      const entries = existsSync(this.pos) ? readFileSync(this.pos, 'latin1').split('\n') : [];
      const [, position = ''] =
        entries.find((line) => line.startsWith(`${this.log(name)}\t`))?.split('\t') ?? [];
      return Number.parseInt(position, 16) === statSync(this.log(name)).size;
    });
  }

  delivered(): number {
    return this.#inDirectory('out').unique + this.sink.tally.unique;
  }

  /** Lines that stand in the file buffer's chunks. */
  buffered(): number {
    return this.#inDirectory('buffer').unique;
  }

  #inDirectory(name: string): IdTally {
    const tally = new IdTally();
    if (existsSync(join(this.dir, name))) tally.addDirectory(join(this.dir, name));
    return tally;
  }

  /** Every process that has this directory on its command line: posidle, supervisors, workers. */
  processes(): number[] {
    return processesNaming(this.dir);
  }

  /** A tmpfs of this size in the place of the file buffer. */
  limitBuffer(size: string): void {
    mkdirSync(this.buffer);
    const options = ['-t', 'tmpfs', '-o', `size=${size}`];
    const { status, stderr } = spawnSync('mount', [...options, 'tmpfs', this.buffer]);
    if (status !== 0) throw new Error(`mount: ${stderr}`);
    this.#isMounted = true;
  }

  /** Does this when the test ends. vitest's global onTestFinished may take another test that runs at the same time for this one. */
  atEnd(ending: () => unknown): void {
    this.#endings.push(ending);
  }

  async close(): Promise<void> {
    for (const ending of this.#endings) await ending();
    await until('nothing runs here any more', () => {
      const left = this.processes();
      killProcesses(left);
      return left.length === 0;
    });
    await this.sink.stop();
    if (this.#isMounted) spawnSync('umount', [this.buffer]);
    rmSync(this.dir, { recursive: true, force: true });
  }
}

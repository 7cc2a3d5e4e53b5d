import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  closeSync,
  copyFileSync,
  linkSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FileReport, Report } from '../../src/core/witness/answer.ts';
import { said } from '../support/deliver.ts';
import type { Site } from '../support/delivery-site.ts';
import { parentOf, workersOf } from '../support/own-processes.ts';
import { until } from '../support/until.ts';
import { BLIND_WAIT, type Condition, type Deed } from './situation.ts';

/** Does in a site what a situation says. */
export class Main {
  readonly #site: Site;
  readonly #fluentd: () => string;
  readonly #hasWitness: boolean;
  readonly #open = new Map<string, number>();
  /** Workers that were signalled, or whose supervisor was. */
  readonly #signalled = new Set<number>();

  /** `fluentd` gives Fluentd's output so far. */
  constructor(site: Site, fluentd: () => string, hasWitness: boolean) {
    this.#site = site;
    this.#fluentd = fluentd;
    this.#hasWitness = hasWitness;
  }

  async perform(deeds: readonly Deed[]): Promise<void> {
    for (const deed of deeds) await this.#perform(deed);
  }

  async #perform(deed: Deed): Promise<void> {
    const { sink, lines } = this.#site;
    switch (deed[0]) {
      case 'write':
        mkdirSync(dirname(this.#path(deed[1])), { recursive: true });
        return await lines.append(this.#path(deed[1]), deed[2]);
      case 'write unended':
        return await lines.appendUnended(this.#path(deed[1]));
      case 'write text':
        return appendFileSync(this.#path(deed[1]), deed[2]);
      case 'write anew':
        return this.#writeAnew(deed[1], deed[2]);
      case 'open':
        return void this.#open.set(deed[1], openSync(this.#path(deed[1]), 'a'));
      case 'write on':
        return void writeSync(this.#open.get(deed[1]) ?? -1, lines.next(deed[2]));
      case 'rename':
        return renameSync(this.#path(deed[1]), this.#path(deed[2]));
      case 'copy':
        return copyFileSync(this.#path(deed[1]), this.#path(deed[2]));
      case 'truncate':
        return truncateSync(this.#path(deed[1]));
      case 'remove':
        return rmSync(this.#path(deed[1]));
      case 'compress':
        // It keeps the file's times, as logrotate does.
        return void execFileSync('gzip', [this.#path(deed[1])]);
      case 'set an old date':
        return utimesSync(this.#path(deed[1]), 0, 0);
      case 'link':
        return symlinkSync(deed[1], this.#path(deed[2]));
      case 'link hard':
        return linkSync(this.#path(deed[1]), this.#path(deed[2]));
      case 'destination':
        sink.phase = deed[1];
        return;
      case 'each answer takes':
        sink.delay = deed[1];
        return;
      case 'signal':
        return this.#signal(deed[1], deed[2]);
      case 'reload':
        await fetch(`http://127.0.0.1:${this.#site.rpcPort}/api/config.gracefulReload`);
        return await this.#sees('a reload ended a buffer');
      case 'until':
        return await this.#until(deed[1]);
      case 'pause':
        return void (await sleep(deed[1] * 1_000));
    }
  }

  #path(file: string): string {
    return this.#site.log(file);
  }

  /** Never shorter than before: in_tail would see that. */
  #writeAnew(file: string, count: number): void {
    const open = openSync(this.#path(file), 'r+');
    writeSync(open, this.#site.lines.next(count), 0);
    closeSync(open);
  }

  #signal(to: 'worker' | 'supervisor', name: NodeJS.Signals): void {
    const [worker] = workersOf(this.#site.conf);
    if (worker === undefined) throw new Error('no worker runs');
    this.#signalled.add(worker);
    process.kill(to === 'worker' ? worker : parentOf(worker), name);
  }

  async #until(what: Condition): Promise<void> {
    if (typeof what === 'object')
      return void (await until(what.fluentdSays, () => this.#fluentd().includes(what.fluentdSays), LONG));
    const { sink, lines } = this.#site;
    if (what === 'a send was tried') return void (await until(what, () => sink.requests > 0, LONG));
    if (what === 'all has arrived')
      return void (await until(what, () => this.#site.delivered() === lines.written, LONG));
    if (what === 'another worker runs') {
      const isAnother = () => workersOf(this.#site.conf).some((pid) => !this.#signalled.has(pid));
      return void (await until(what, isAnother, LONG));
    }
    return await this.#sees(what);
  }

  async #sees(what: keyof typeof SEEN): Promise<void> {
    if (this.#hasWitness) await said(this.#site, what, SEEN[what]);
    else await sleep(BLIND_WAIT * 1_000);
  }
}

const LONG = { within: 60_000 };

/** What the witness says then. */
const SEEN = {
  'all is read': ({ files, unfound }) =>
    files.length > 0 &&
    unfound.length === 0 &&
    files.every((file) => !isUnread(file) && !isCut(file) && isWhole(file)),
  'all is seen': ({ files }) => files.some(isWhole),
  'a file is closed': ({ closed }) => closed.length > 0,
  'a file is unfound or read': ({ files, unfound }) => unfound.length > 0 || files.length > 1,
  'lines are refused': ({ files }) => files.some(isUnread),
  'a reload ended a buffer': ({ ends }) => ends.some(({ buffer }) => buffer === 'reloaded'),
} satisfies Readonly<Record<string, (report: Report) => boolean>>;

/** As long as the file is now. A renamed file has the path of another one. */
function isWhole({ path, inode, size }: FileReport): boolean {
  const file = statSync(path, { throwIfNoEntry: false });
  return file === undefined || String(file.ino) !== inode || file.size === size;
}

/** in_tail has not noticed yet that the file was cut. */
function isCut({ position, size }: FileReport): boolean {
  return position > (size ?? position);
}

function isUnread({ position, size, lines }: FileReport): boolean {
  return lines > 0 || position < (size ?? 0);
}

import {
  appendFileSync,
  copyFileSync,
  linkSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import type { Random } from '../simulation/random.ts';
import type { Site } from '../support/delivery-site.ts';

/** Longer than the witness's looks are apart (LIMITS.md): what lives shorter, nobody need see. */
const SEEN: number = 450;

/** A main that ill-treats its logs, and remembers which lines had no time to be seen. */
export class Main {
  readonly #site: Site;
  readonly #random: Random;
  readonly #writtenAt: number[] = [];
  readonly #unseen = new Set<number>();
  /** By inode, when a file was first found where Fluentd follows it. */
  readonly #here = new Map<number, number>();
  readonly #open = new Map<string, number>();

  constructor(site: Site, random: Random) {
    this.#site = site;
    this.#random = random;
  }

  get written(): number {
    return this.#writtenAt.length;
  }

  /** Lines that did not arrive, and that were there for long enough. */
  lost(): readonly number[] {
    const { tally } = this.#site.sink;
    return this.#writtenAt.flatMap((_, id) => (tally.has(id) || this.#unseen.has(id) ? [] : [id]));
  }

  write(name: string, count = this.#random.pick([1, 3, 20, 200])): void {
    appendFileSync(this.#path(name), this.#lines(count));
    this.#notice(name);
  }

  /** One deed, by chance; gives its name. */
  act(): string {
    const name = this.#random.pick(['a.log', 'b.log']);
    const deeds = Object.entries(this.#deeds);
    const [what, deed] = this.#random.pick(deeds as [[string, (name: string) => void]]);
    for (const one of ['a.log', 'b.log']) this.#notice(one);
    try {
      deed(name);
    } catch {
      return `(${what} ${name})`;
    }
    this.#notice(name);
    return `${what} ${name}`;
  }

  readonly #deeds: Readonly<Record<string, (name: string) => void>> = {
    write: (name) => this.write(name),
    'write on': (name) => this.write(name),
    add: (name) => this.write(name),
    open: (name) => void this.#open.set(name, openSync(this.#path(name), 'a')),
    'write late': (name) => this.#writeLate(name),
    truncate: (name) => this.#destroy(name, () => truncateSync(this.#path(name))),
    'write anew': (name) => this.#destroy(name, () => writeFileSync(this.#path(name), this.#lines(300))),
    copytruncate: (name) => {
      copyFileSync(this.#path(name), this.#path(`${name}.1`));
      this.#destroy(name, () => truncateSync(this.#path(name)));
    },
    rotate: (name) => this.#move(name, `${name}.1`),
    'rotate and write': (name) => {
      this.#move(name, `${name}.1`);
      this.write(name);
    },
    'move away': (name) => this.#move(name, `../${name}-${this.written}`),
    remove: (name) => {
      this.#leave(name);
      rmSync(this.#path(name));
    },
    replace: (name) => {
      this.#leave(name);
      writeFileSync(`${this.#site.dir}/new`, this.#lines(20));
      renameSync(`${this.#site.dir}/new`, this.#path(name));
    },
    link: (name) => linkSync(this.#path(name), this.#path(`link${this.written}.log`)),
    'link to': () => {
      const target = `${this.#site.dir}/target${this.written}`;
      symlinkSync(target, this.#path(`symlink${this.written}.log`));
      writeFileSync(target, this.#lines(3));
    },
  };

  #path(name: string): string {
    return this.#site.log(name);
  }

  #lines(count: number): string {
    const ids = Array.from({ length: count }, () => this.#writtenAt.push(performance.now()) - 1);
    return ids.map((id) => `id=${String(id).padStart(10, '0')} \n`).join('');
  }

  #notice(name: string): void {
    const inode = statSync(this.#path(name), { throwIfNoEntry: false })?.ino;
    if (inode !== undefined && !this.#here.has(inode)) this.#here.set(inode, performance.now());
  }

  /** The lines of a file that nobody had time to see may be lost. */
  #leave(name: string): void {
    if (!this.#wasSeen(statSync(this.#path(name)).ino)) this.#overlook(name, 0);
  }

  #move(name: string, to: string): void {
    this.#leave(name);
    renameSync(this.#path(name), this.#path(to));
  }

  #destroy(name: string, how: () => void): void {
    this.#overlook(name, performance.now() - SEEN);
    how();
  }

  #writeLate(name: string): void {
    const file = this.#open.get(name);
    if (file === undefined) throw new Error('it is not open');
    const first = this.written;
    writeSync(file, this.#lines(3));
    if (!this.#wasSeen(statSync(`/proc/self/fd/${file}`).ino))
      for (let id = first; id < this.written; id += 1) this.#unseen.add(id);
  }

  #wasSeen(inode: number): boolean {
    return performance.now() - (this.#here.get(inode) ?? Number.POSITIVE_INFINITY) >= SEEN;
  }

  /** The lines in this file that were written after that. */
  #overlook(name: string, since: number): void {
    for (const [, digits] of readFileSync(this.#path(name), 'latin1').matchAll(/id=(\d{10})/g)) {
      const id = Number(digits);
      if ((this.#writtenAt[id] ?? 0) > since) this.#unseen.add(id);
    }
  }
}

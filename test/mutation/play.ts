import { type ChildProcess, fork } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { buildSync } from 'esbuild';
import type { Order } from './player.ts';

const HERE = resolve('node_modules/.cache/posidle');
const SCRIPT = `${HERE}/mutation-player-${process.pid}.mjs`;
/** A mutant may loop for ever; all stages together take 10 s, and 45 s on a very busy machine. */
const LONGEST = 150_000;
/** A module that was once loaded stays in memory. */
const MOST_PLAYED = 100;

/** A process that plays bundles, and is replaced when it hangs. */
export class Player {
  #child: ChildProcess | undefined;
  #played = 0;

  constructor() {
    buildSync({
      entryPoints: ['test/mutation/player.ts'],
      outfile: SCRIPT,
      bundle: true,
      platform: 'node',
      format: 'esm',
      target: 'node20',
    });
  }

  async play(bundle: Uint8Array, stages: readonly string[]): Promise<string | undefined> {
    this.#played += 1;
    if (this.#played % MOST_PLAYED === 0) this.#replace();
    this.#child ??= fork(SCRIPT, { stdio: 'ignore' });
    const path = `${HERE}/mutation-${process.pid}-${this.#played}.mjs`;
    writeFileSync(path, bundle);
    const why = await this.#ask(this.#child, { url: pathToFileURL(path).href, stages });
    rmSync(path);
    return why;
  }

  end(): void {
    this.#replace();
    rmSync(SCRIPT);
  }

  #ask(child: ChildProcess, order: Order): Promise<string | undefined> {
    return new Promise((done) => {
      const end = (why: string | undefined) => {
        clearTimeout(timer);
        child.removeAllListeners();
        done(why);
      };
      const timer = setTimeout(() => {
        this.#replace();
        end('it never ends');
      }, LONGEST);
      child.once('message', ({ why }: { why?: string }) => end(why));
      child.once('exit', () => {
        this.#child = undefined;
        end('it ends the process');
      });
      child.send(order);
    });
  }

  #replace(): void {
    this.#child?.removeAllListeners();
    this.#child?.kill('SIGKILL');
    this.#child = undefined;
  }
}

import { closeSync, openSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { NumberedLines } from '../support/numbered-lines.ts';

/** As the kubelet keeps them (containerLogMaxFiles: 5 with the current one). */
const KEPT = 4;
const TURNS_A_SECOND = 10;

/** Writes into many files, each once a second, and rotates each once a minute: never two at the same instant. */
export class Writer {
  rotations = 0;
  readonly #paths: readonly string[];
  readonly #rate: number;
  readonly #lines: NumberedLines;

  constructor(dir: string, { files, rate, lines }: { files: number; rate: number; lines: NumberedLines }) {
    this.#paths = Array.from({ length: files }, (_, index) => join(dir, `app-${index}.log`));
    this.#rate = rate;
    this.#lines = lines;
  }

  async writeFor(milliseconds: number): Promise<void> {
    const began = performance.now();
    for (let turn = 0; performance.now() - began < milliseconds; turn += 1) {
      const second = Math.floor(turn / TURNS_A_SECOND);
      for (const [index, path] of this.#paths.entries()) {
        if (index % TURNS_A_SECOND !== turn % TURNS_A_SECOND) continue;
        if (second >= 60 && second % 60 === index % 60) this.#rotate(path);
        await this.#lines.append(path, this.#rate);
      }
      await sleep(began + ((turn + 1) * 1_000) / TURNS_A_SECOND - performance.now());
    }
  }

  #rotate(path: string): void {
    rmSync(`${path}.${KEPT}`, { force: true });
    for (let age = KEPT - 1; age > 0; age -= 1) renameIfThere(`${path}.${age}`, `${path}.${age + 1}`);
    renameIfThere(path, `${path}.1`);
    closeSync(openSync(path, 'a'));
    this.rotations += 1;
  }
}

function renameIfThere(from: string, to: string): void {
  try {
    renameSync(from, to);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
}

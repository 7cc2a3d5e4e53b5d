import { execFileSync, spawnSync } from 'node:child_process';
import { CLI } from './posidle.ts';

let sessions = 0;

/** Skips the test where there is no tmux; under CI=true the lack is a failure. */
export function requireTmux(context: { skip(note: string): void }): void {
  if (spawnSync('tmux', ['-V']).status === 0) return;
  if (process.env.CI === 'true') throw new Error('tmux is not installed');
  context.skip('tmux is not installed: run apt-get install tmux');
}

/** `posidle` in it is the built CLI: what is typed is as long wherever the checkout lies. */
const COMMAND = `BASH_FUNC_posidle%%=() { "${process.execPath}" "${CLI}" "$@"; }`;
const SHELL = `env '${COMMAND}' PS1="ready> " LANG=C.UTF-8 TERM=screen-256color bash --norc --noprofile`;

/** A shell in a real terminal. */
export class Tmux {
  readonly #socket: string;

  constructor({ columns = 80, rows = 24 } = {}) {
    sessions += 1;
    this.#socket = `posidle-${process.pid}-${sessions}`;
    const size = ['-x', String(columns), '-y', String(rows)];
    this.#tmux('-f', '/dev/null', '-u', 'new-session', '-d', ...size, SHELL);
  }

  type(...keys: readonly string[]): void {
    this.#tmux('send-keys', ...keys);
  }

  /** Types a command for posidle and Enter. */
  posidle(args: string): void {
    this.type(`posidle ${args}`, 'Enter');
  }

  /** The visible lines. */
  screen(): string {
    return this.#tmux('capture-pane', '-p');
  }

  colored(): string {
    return this.#tmux('capture-pane', '-p', '-e');
  }

  resize(columns: number, rows: number): void {
    this.#tmux('resize-window', '-x', String(columns), '-y', String(rows));
  }

  kill(): void {
    spawnSync('tmux', ['-L', this.#socket, 'kill-server']);
  }

  #tmux(...args: readonly string[]): string {
    return execFileSync('tmux', ['-L', this.#socket, ...args], { encoding: 'utf8' });
  }
}

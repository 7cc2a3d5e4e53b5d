import { execFileSync, spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';

const CLI = resolve('dist/cli.js');
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

/** A shell in a real terminal, or another command with nothing around it. */
export class Tmux {
  readonly #socket: string;

  constructor({ columns = 80, rows = 24, command = SHELL } = {}) {
    sessions += 1;
    this.#socket = `posidle-${process.pid}-${sessions}`;
    const size = ['-x', String(columns), '-y', String(rows)];
    this.#tmux('-f', '/dev/null', '-u', 'new-session', '-d', ...size, command);
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

  /** The pids of posidle in this terminal. */
  pids(): readonly number[] {
    const shell = this.#tmux('display-message', '-p', '#{pane_pid}').trim();
    const isHere = (pid: string) => terminalOf(pid) === terminalOf(shell);
    const all = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
    return all.filter((pid) => isHere(pid) && read(`/proc/${pid}/cmdline`).includes(CLI)).map(Number);
  }

  kill(): void {
    spawnSync('tmux', ['-L', this.#socket, 'kill-server']);
  }

  #tmux(...args: readonly string[]): string {
    return execFileSync('tmux', ['-L', this.#socket, ...args], { encoding: 'utf8' });
  }
}

/** Its number: the fifth field after the name. */
function terminalOf(pid: string): string | undefined {
  return read(`/proc/${pid}/stat`)
    .replace(/^.*\) /s, '')
    .split(' ')[4];
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

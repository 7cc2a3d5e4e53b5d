import { constants, fstatSync, openSync, writeSync } from 'node:fs';
import { Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { isatty } from 'node:tty';
import { styleText } from 'node:util';
import { pino, stdTimeFunctions } from 'pino';
import { printable, printableInJson } from '../../core/text/printable.ts';
import type { Log, LogFormat } from '../../log.ts';

const STDERR = 2;
/** The most bytes that wait for a reader of the pipe. Further lines are dropped. */
const WAITING = 1 << 20;
const GOODBYE = 1_000;
const COLOURS = { error: 'red', warn: 'yellow', info: 'green' } as const;

export interface OpenLog extends Log {
  /** Must be called after each spawn with this stderr, which makes it blocking (libuv, uv__process_child_init). */
  spawned(): void;
  close(): Promise<void>;
}

/** Logs to stderr, because stdout belongs to inspect or Fluentd. The default format is `pretty` on a terminal, else `json`. */
export function openLog(format: LogFormat = isatty(STDERR) ? 'pretty' : 'json'): OpenLog {
  // Not pino's own destination, which at exit repeats a failed write until it succeeds.
  const stderr = openStderr();
  const json = pino(
    {
      base: null,
      timestamp: stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
    },
    { write: (line) => stderr.write(`${printableInJson(line.trimEnd())}\n`) },
  );
  const tell = (level: keyof typeof COLOURS) => (facts: object, text: string) => {
    if (format === 'json') return json[level](facts, text);
    // For people the sentence is enough: it contains the facts. `process.stderr` would make a pipe non-blocking for others, too.
    const label = isatty(STDERR) ? styleText(COLOURS[level], level, { stream: process.stderr }) : level;
    stderr.write(`${new Date().toISOString().slice(11, 23)} ${label} ${printable(text)}\n`);
  };
  return {
    info: tell('info'),
    warn: tell('warn'),
    error: tell('error'),
    ...{ spawned: stderr.spawned, close: stderr.close },
  };
}

/** A stderr that never blocks the loop or the exit, even with a full disk, a full pipe or without a reader. */
function openStderr() {
  const stat = fstatSync(STDERR);
  return stat.isFIFO() || stat.isSocket() ? throughSocket() : throughFile();
}

function throughFile() {
  const write = (line: string) => {
    try {
      writeSync(STDERR, line);
    } catch {
      // ENOSPC or EIO: there is no other place to report it.
    }
  };
  return { write, spawned: () => {}, close: async () => {} };
}

function throughSocket() {
  const own = ownPipe();
  const socket = nonBlocking(own ?? STDERR);
  socket.on('error', () => {});
  return {
    write: (line: string) => {
      if (!socket.destroyed && socket.writableLength < WAITING) socket.write(line);
    },
    spawned: () => {
      if (own === undefined) nonBlocking(STDERR);
    },
    close: () => drained(socket),
  };
}

/** Another open file of the same pipe, so that others' writes still block. A socket and another user's pipe cannot be opened again. */
function ownPipe(): number | undefined {
  try {
    return openSync(`/proc/self/fd/${STDERR}`, constants.O_WRONLY | constants.O_NONBLOCK);
  } catch {
    return undefined;
  }
}

function nonBlocking(fd: number): Socket {
  return new Socket({ fd, readable: false, writable: true }).unref();
}

async function drained(socket: Socket): Promise<void> {
  if (socket.destroyed || socket.writableLength === 0) return;
  // Not `drain`, which comes only after a write that returned false. Not `end`, which closes stderr for later messages.
  const isTaken = new Promise<unknown>((resolve) => socket.write('', resolve));
  await Promise.race([isTaken, pause(GOODBYE)]);
}

import { constants, fstatSync, openSync, writeSync } from 'node:fs';
import { Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { isatty } from 'node:tty';
import { styleText } from 'node:util';
import { pino, stdTimeFunctions } from 'pino';
import { printable, printableInJson } from '../../core/text/printable.ts';
import { unlessItFails } from '../files/files.ts';

const STDERR = 2;
/** The most bytes that wait for a reader of the pipe. Further lines are dropped. */
const WAITING = 1 << 20;
const GOODBYE = 1_000;
const COLOURS = { error: 'red', warn: 'yellow', info: 'green' } as const;

export type Log = ReturnType<typeof openLog>;

/**
 * Logs to stderr, because stdout belongs to inspect or Fluentd. Each line has facts as data and one sentence. The default format is `pretty`
 * on a terminal, else `json`.
 */
export function openLog(format: 'json' | 'pretty' = isatty(STDERR) ? 'pretty' : 'json') {
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
    // For people the sentence is enough: it contains the facts.
    const label = styleText(COLOURS[level], level, { stream: process.stderr });
    stderr.write(`${new Date().toISOString().slice(11, 23)} ${label} ${printable(text)}\n`);
  };
  return { info: tell('info'), warn: tell('warn'), error: tell('error'), close: stderr.close };
}

/** A stderr that never blocks the loop or the exit, even with a full disk, a full pipe or without a reader. */
function openStderr() {
  const stat = fstatSync(STDERR);
  if (!stat.isFIFO() && !stat.isSocket()) return throughFile();
  // It fails with a socket of datagrams (net.js, createHandle).
  return unlessItFails(throughSocket) ?? throughFile();
}

function throughFile() {
  // If it fails (ENOSPC, EIO), there is no other place to report it.
  const write = (line: string) => void unlessItFails(() => writeSync(STDERR, line));
  return { write, close: async () => {} };
}

function throughSocket() {
  const socket = new Socket({ fd: ownPipe() ?? STDERR, readable: false, writable: true }).unref();
  socket.on('error', () => {});
  // Whenever a socket ends, Node looks at this (net.js, _destroy), and would open stderr once more: that fails, or makes a shared pipe
  // non-blocking.
  Object.defineProperty(process, 'stderr', { value: socket });
  return {
    write: (line: string) => {
      if (socket.destroyed || socket.writableLength >= WAITING) return;
      // A child that starts, of posidle or of Fluentd, makes a shared file blocking again (libuv, uv__process_child_init).
      (socket as unknown as WithHandle)._handle?.setBlocking(false);
      socket.write(line);
    },
    close: () => drained(socket),
  };
}

/** Another open file of the same pipe, so that others' writes still block. A socket and another user's pipe cannot be opened again. */
function ownPipe(): number | undefined {
  return unlessItFails(() => openSync(`/proc/self/fd/${STDERR}`, constants.O_WRONLY | constants.O_NONBLOCK));
}

/** Node's own stdout calls it, too. */
interface WithHandle {
  readonly _handle?: { setBlocking(isBlocking: boolean): void } | null;
}

async function drained(socket: Socket): Promise<void> {
  if (socket.destroyed || socket.writableLength === 0) return;
  // Not `drain`, which comes only after a write that returned false. Not `end`, which closes stderr for later messages.
  const isTaken = new Promise<unknown>((resolve) => socket.write('', resolve));
  await Promise.race([isTaken, pause(GOODBYE)]);
}

import { fstatSync, writeSync } from 'node:fs';
import { Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { styleText } from 'node:util';
import { pino, stdTimeFunctions } from 'pino';
import { printable, printableJson } from '../../core/text/printable.ts';
import type { Log, LogFormat, LogLevel } from '../../log.ts';

const STDERR = 2;
/** What may wait for a reader of the pipe; past it lines are dropped, not kept. */
const WAITING = 1 << 20;
const GOODBYE = 1_000;
const COLOURS = { error: 'red', warn: 'yellow', info: 'green', debug: 'gray' } as const;

/** Logs to stderr, so that stdout stays inspect's or fluentd's own; by default for people on a terminal, else for programs. `reword` has the last word on each sentence. */
export function openLog(
  level: LogLevel,
  format: LogFormat = process.stderr.isTTY ? 'pretty' : 'json',
  reword: (text: string) => string,
): Log & { close(): Promise<void> } {
  // Not pino's own destination: at exit it repeats a write that fails until it succeeds.
  const stderr = openStderr();
  const write = (line: string) => stderr.write(format === 'pretty' ? prettyLine(line) : jsonLine(line));
  const logger = pino(
    {
      level,
      base: null,
      timestamp: stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
    },
    { write },
  );
  return {
    debug: (facts, text) => logger.debug(facts, reword(text)),
    info: (facts, text) => logger.info(facts, reword(text)),
    warn: (facts, text) => logger.warn(facts, reword(text)),
    error: (facts, text) => logger.error(facts, reword(text)),
    close: () => stderr.close(),
  };
}

/** Whoever reads the log in a terminal is not steered by a file's name. */
function jsonLine(line: string): string {
  return `${printableJson(JSON.parse(line))}\n`;
}

/** The facts stand in the sentence already: people get the sentence. */
function prettyLine(line: string): string {
  const { level, time, msg } = JSON.parse(line) as { level: LogLevel; time: string; msg: string };
  const clock = time.slice(11, 23);
  const label = styleText(COLOURS[level], level, { stream: process.stderr });
  return `${clock} ${label} ${printable(msg)}\n`;
}

/** stderr that neither stops the loop nor holds up the end: a full disk, a full pipe, a reader that is gone. */
function openStderr() {
  const stat = fstatSync(STDERR);
  return stat.isFIFO() || stat.isSocket() ? throughSocket() : throughFile();
}

function throughFile() {
  const write = (line: string) => {
    try {
      writeSync(STDERR, line);
    } catch {
      // ENOSPC, EIO: there is no other place to say so.
    }
  };
  return { write, close: async () => {} };
}

function throughSocket() {
  const socket = new Socket({ fd: STDERR, readable: false, writable: true });
  socket.on('error', () => {});
  socket.unref();
  return {
    write: (line: string) => {
      if (!socket.destroyed && socket.writableLength < WAITING) socket.write(line);
    },
    close: () => drained(socket),
  };
}

async function drained(socket: Socket): Promise<void> {
  if (socket.destroyed || socket.writableLength === 0) return;
  await Promise.race([new Promise((resolve) => socket.once('drain', resolve)), pause(GOODBYE)]);
}

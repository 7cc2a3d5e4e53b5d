import { pino, stdTimeFunctions } from 'pino';
import { printable, printableJson } from '../../core/text/printable.ts';
import type { Log, LogFormat, LogLevel } from '../../log.ts';
import { openStderr } from './stderr.ts';

const COLOURS: Readonly<Record<string, number>> = { error: 31, warn: 33, info: 32, debug: 90 };

export interface OpenLog extends Log {
  close(): Promise<void>;
}

/** Logs to stderr, so that stdout stays inspect's or fluentd's own; by default for people on a terminal, else for programs. */
export function openLog(
  level: LogLevel,
  format: LogFormat = process.stderr.isTTY ? 'pretty' : 'json',
): OpenLog {
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
    debug: (facts, message) => logger.debug(facts, message),
    info: (facts, message) => logger.info(facts, message),
    warn: (facts, message) => logger.warn(facts, message),
    error: (facts, message) => logger.error(facts, message),
    close: () => stderr.close(),
  };
}

/** Whoever reads the log in a terminal is not steered by a file's name. */
function jsonLine(line: string): string {
  return `${printableJson(JSON.parse(line))}\n`;
}

/** The facts stand in the sentence already: people get the sentence. */
function prettyLine(line: string): string {
  const { level, time, msg } = JSON.parse(line) as { level: string; time: string; msg: string };
  const clock = time.slice(11, 23);
  const label = process.stderr.hasColors?.() ? `\u001b[${COLOURS[level]}m${level}\u001b[0m` : level;
  return `${clock} ${label} ${printable(msg)}\n`;
}

import { pino } from 'pino';
import { printable } from '../core/printable.ts';
import type { Log, LogFormat, LogLevel } from '../log.ts';

const GOODBYE = 1_000;
const COLOURS: Readonly<Record<string, number>> = { error: 31, warn: 33, info: 32, debug: 90 };

/** Logs to stderr, so that stdout stays inspect's or fluentd's own. */
export function openLog(level: LogLevel, format: LogFormat): Log & { close(): Promise<void> } {
  // Asynchronous: a pipe that nobody reads must not stop the loop.
  const destination = pino.destination({ fd: 2, sync: false });
  const stream =
    format === 'pretty' ? { write: (line: string) => destination.write(prettyLine(line)) } : destination;
  const logger = pino({ level, base: null, formatters: { level: (label) => ({ level: label }) } }, stream);
  return {
    debug: (facts, message) => logger.debug(facts, message),
    info: (facts, message) => logger.info(facts, message),
    warn: (facts, message) => logger.warn(facts, message),
    error: (facts, message) => logger.error(facts, message),
    close: () => goodbye((done) => destination.flush(done)),
  };
}

/** Waits for the last lines, but not for a reader that never comes. */
function goodbye(flush: (done: () => void) => void): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, GOODBYE);
    flush(() => {
      clearTimeout(timer);
      resolve();
    });
  });
}

/** The facts stand in the sentence already: people get the sentence. */
function prettyLine(line: string): string {
  const { level, time, msg } = JSON.parse(line) as { level: string; time: number; msg: string };
  const clock = new Date(time).toISOString().slice(11, 23);
  const label = process.stderr.hasColors?.() ? `\u001b[${COLOURS[level]}m${level}\u001b[0m` : level;
  return `${clock} ${label} ${printable(msg)}\n`;
}

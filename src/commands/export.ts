import { setTimeout as pause } from 'node:timers/promises';
import { EXIT } from '../core/drain/outcome.ts';
import type { Found } from '../core/inspect/found.ts';
import { Paces } from '../core/inspect/paces.ts';
import { WINDOW } from '../core/inspect/verdict.ts';
import { type Inspected, metricsOfInspection } from '../core/metrics/of-inspection.ts';
import { formatDuration, type Millis } from '../core/text/units.ts';
import type { Log } from '../log.ts';
import { type Answer, METRICS_TYPE, type Routes, TEXT_TYPE } from '../node/network/http-server.ts';
import { NodeHost } from '../node/node-host.ts';
import { openLog } from '../node/output/logger.ts';
import { Ending } from '../node/output/terminal.ts';
import { Inspector } from '../tasks/inspect-look.ts';
import { inspectSubject } from '../tasks/inspect-subject.ts';
import { buildInfo } from './build-info.ts';
import { listen } from './listen.ts';
import type { ExportArgs } from './options/export-options.ts';
import { inFlags, logInFlags } from './options/flag-wording.ts';
import { unknownVariables } from './start-warnings.ts';

/** `posidle export`: looks again and again, and answers Prometheus, until a signal comes. */
export async function runExport(args: ExportArgs): Promise<number> {
  const { 'pos-file': posFiles = [], 'fluent-conf': fluentConf, root, interval } = args;
  const host = new NodeHost(root);
  const subject = await inspectSubject(host, {
    posFiles,
    fluentConf,
    raw: false,
    root,
    witness: undefined,
    nameOptions: inFlags,
  });
  const ending = new Ending();
  // No verdict asks for more.
  const inspector = new Inspector(host, subject, new Paces(Math.ceil(WINDOW / interval) + 2));
  const board = new LookBoard(() => host.now(), { interval, perFile: args['per-file'] });
  const server = await listen(args.listen, board.routes);
  const { port } = server.endpoint;
  const stderr = openLog(args['log-level'], args['log-format']);
  const log = logInFlags(stderr);
  const answers = `GET http://${args.listen.host}:${port}/metrics answers`;
  log.info({}, `${answers}, with a look every ${formatDuration(interval)}`);
  for (const warning of [...unknownVariables(process.env), ...subject.warnings]) log.warn({}, warning);
  const unknown = new UnknownLag(log);
  while (!ending.isWanted) {
    const began = host.now();
    const look = inspector
      .look()
      .catch((error: Error) => void log.error({}, `a look failed: ${error.message}`));
    const found = await ending.orEnd(look);
    if (found) {
      board.looked({ found, took: host.now() - began });
      unknown.looked(found);
    }
    await ending.orEnd(pause(interval));
  }
  server.close();
  await stderr.close();
  return EXIT.ok;
}

const MOST_TOLD = 10;

/** Tells when something cannot be looked at, and when it can be again: not at each look. */
export class UnknownLag {
  readonly #log: Log;
  #before: readonly string[] = [];

  constructor(log: Log) {
    this.#log = log;
  }

  looked({ posFiles, unlisted }: Found): void {
    const files = posFiles.flatMap(({ path, error, troubles }) => [
      ...(error === undefined ? [] : [`${path}: ${error}`]),
      ...troubles.map((trouble) => `${trouble.path}: ${trouble.error}`),
    ]);
    const now = [...files, ...unlisted];
    const told = new Set(this.#before);
    tellSome(
      now.filter((why) => !told.has(why)),
      (why) => this.#log.warn({}, `lag unknown: ${why}`),
    );
    const still = new Set(now);
    tellSome(
      this.#before.filter((why) => !still.has(why)),
      (why) => this.#log.info({}, `no longer: ${why}`),
    );
    this.#before = now;
  }
}

function tellSome(all: readonly string[], tell: (text: string) => void): void {
  all.slice(0, MOST_TOLD).forEach(tell);
  if (all.length > MOST_TOLD) tell(`${all.length - MOST_TOLD} more files`);
}

const STALE: Millis = 60_000;

interface Terms {
  readonly interval: Millis;
  readonly perFile: number;
}

/** Keeps the last look for whoever asks. A look that hangs says nothing: what was true before it is no answer. */
export class LookBoard {
  readonly #now: () => Millis;
  readonly #terms: Terms;
  #last: Inspected | undefined;
  #lookedAt = Number.NEGATIVE_INFINITY;
  /** The answer since the last look. */
  #text: string | undefined;

  constructor(now: () => Millis, terms: Terms) {
    this.#now = now;
    this.#terms = terms;
  }

  looked(look: Omit<Inspected, 'looks'>): void {
    this.#last = { ...look, looks: (this.#last?.looks ?? 0) + 1 };
    this.#lookedAt = this.#now();
    this.#text = undefined;
  }

  get routes(): Routes {
    return {
      get: {
        '/metrics': () => this.#answer((last) => this.#rendered(last), METRICS_TYPE),
        '/healthz': () => this.#answer(() => 'ok\n', TEXT_TYPE),
      },
      post: {},
      tokenFile: undefined,
    };
  }

  #answer(body: (last: Inspected) => string, type: string): Answer {
    const isStale = this.#now() - this.#lookedAt > STALE + 2 * this.#terms.interval;
    if (this.#last === undefined || isStale) {
      const why = this.#last === undefined ? 'no look yet\n' : 'the last look is too long ago\n';
      return { body: why, type: TEXT_TYPE, isWell: false };
    }
    return { body: body(this.#last), type, isWell: true };
  }

  #rendered(last: Inspected): string {
    this.#text ??= metricsOfInspection(last, this.#terms.perFile) + buildInfo();
    return this.#text;
  }
}

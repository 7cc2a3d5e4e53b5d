import { setTimeout as pause } from 'node:timers/promises';
import type { Found } from '../core/inspect/found.ts';
import { Rates } from '../core/inspect/rates.ts';
import { GONE } from '../core/look/progress-from-files.ts';
import { type Inspected, metricsOfInspection } from '../core/metrics/metrics.ts';
import { brokenIn } from '../core/pos-file/pos-file.ts';
import { groupedBy } from '../core/text/lists.ts';
import { andMore, counted, formatDuration, type Millis } from '../core/text/units.ts';
import type { Log } from '../log.ts';
import { METRICS_TYPE, type Routes } from '../node/network/http-server.ts';
import { NodeHost } from '../node/node-host.ts';
import { openLog } from '../node/output/logger.ts';
import { Inspector, inspectSubject } from '../tasks/inspect.ts';
import { buildInfo } from './build-info.ts';
import { keepHeapSmall } from './heap.ts';
import { LookBoard, listen } from './listen.ts';
import type { ExportArgs } from './options/inspect-options.ts';
import { unknownVariables } from './start-warnings.ts';

const STALE: Millis = 60_000;

/** `posidle export`: looks periodically and answers Prometheus until a signal ends it. */
export async function runExport(args: ExportArgs): Promise<never> {
  const { 'pos-file': posFiles = [], 'fluent-conf': fluentConf, root, interval } = args;
  keepHeapSmall();
  const host = new NodeHost(root);
  const subject = await inspectSubject(host, { posFiles, fluentConf, root });
  const inspector = new Inspector(host, subject, new Rates());
  const board = new LookBoard<Inspected>(() => host.now(), STALE + 2 * interval);
  const { endpoint } = await listen(args.listen, exportRoutes(board, args['per-file']));
  const log = openLog(args['log-format']);
  const answers = `GET http://${args.listen.host}:${endpoint.port}/metrics answers`;
  log.info({}, `${answers}, with a look every ${formatDuration(interval)}`);
  for (const warning of [...unknownVariables(process.env), ...subject.warnings]) log.warn({}, warning);
  const unknown = new UnknownLag(log);
  for (let looks = 1; ; looks += 1) {
    const began = host.now();
    const found = await inspector
      .look()
      .catch((error: Error) => void log.error({}, `a look failed: ${error.message}`));
    if (found) {
      board.looked({ found, took: host.now() - began, looks });
      unknown.looked(found);
    }
    await pause(interval);
  }
}

/** While a look hangs, /metrics answers 503 instead of stale numbers. */
export function exportRoutes(board: LookBoard<Inspected>, perFile: number): Routes {
  const render = (last: Inspected) => metricsOfInspection(last, perFile) + buildInfo();
  const metrics = () => {
    const health = board.health();
    return health.isWell ? board.answer(METRICS_TYPE, render) : health;
  };
  return { get: { '/metrics': metrics, '/healthz': () => board.health() }, post: {}, tokenFile: undefined };
}

const MOST_TOLD = 10;

interface Unknown {
  /** Empty: the reason names it. */
  readonly path: string;
  readonly why: string;
}

/** Logs each file whose lag becomes unknown, and each that becomes known again: a line for each reason. */
export class UnknownLag {
  readonly #log: Log;
  #before: ReadonlyMap<string, Unknown> = new Map();

  constructor(log: Log) {
    this.#log = log;
  }

  looked({ posFiles, seen }: Found): void {
    const all = posFiles.flatMap(({ path, error, unparsable, troubles, files }): readonly Unknown[] => [
      ...(error === undefined ? [] : [{ path, why: error }]),
      ...(brokenIn(unparsable).length === 0 ? [] : [{ path, why: 'it has lines that cannot be parsed' }]),
      ...troubles.map((trouble) => ({ path: trouble.path, why: trouble.error })),
      ...files
        .filter(({ read, lag }) => read && lag === null)
        .map((file) => ({ path: file.path, why: GONE })),
    ]);
    const unlisted = seen.unlisted.map((why) => ({ path: '', why }));
    const before = this.#before;
    this.#before = new Map([...all, ...unlisted].map((one) => [`${one.path}: ${one.why}`, one]));
    for (const line of newIn(this.#before, before)) this.#log.warn({}, `lag unknown: ${line}`);
    for (const line of newIn(before, this.#before)) this.#log.info({}, `no longer: ${line}`);
  }
}

function newIn(now: ReadonlyMap<string, Unknown>, before: ReadonlyMap<string, Unknown>): readonly string[] {
  const added = [...now].filter(([key]) => !before.has(key)).map(([, one]) => one);
  const lines = [...groupedBy(added, ({ why }) => why)].map(([why, group]) =>
    [andMore(group.map(({ path }) => path)), why].filter(Boolean).join(': '),
  );
  const more = lines.length > MOST_TOLD ? [counted(lines.length - MOST_TOLD, 'more reason')] : [];
  return [...lines.slice(0, MOST_TOLD), ...more];
}

import { setTimeout as pause } from 'node:timers/promises';
import { EXIT } from '../core/drain/outcome.ts';
import type { Found } from '../core/inspect/found.ts';
import { Rates } from '../core/inspect/rates.ts';
import { unknownIn } from '../core/inspect/summary.ts';
import { type Inspected, metricsOfInspection } from '../core/metrics/metrics.ts';
import { brokenIn } from '../core/pos-file/pos-file.ts';
import { andMore, formatDuration, type Millis } from '../core/text/units.ts';
import { METRICS_TYPE, type Routes } from '../node/network/http-server.ts';
import { NodeHost } from '../node/node-host.ts';
import { openLog } from '../node/output/logger.ts';
import { inTime } from '../tasks/in-time.ts';
import { inspector, inspectSubject } from '../tasks/inspect.ts';
import { buildInfo } from './build-info.ts';
import { keepHeapSmall } from './heap.ts';
import { LastLook, listen } from './listen.ts';
import { unknownVariables } from './options/environment.ts';
import type { ExportArgs } from './options/inspect-options.ts';

const STALE: Millis = 60_000;

export async function runExport(args: ExportArgs): Promise<never> {
  const { 'pos-file': posFiles = [], 'fluent-conf': fluentConf, root, interval } = args;
  keepHeapSmall();
  const host = new NodeHost(root);
  const subject = await inTime(inspectSubject(host, { posFiles, fluentConf, root }), EXIT.cannotWork);
  const inspect = inspector(host, subject, new Rates());
  const lastLook = new LastLook<Inspected>(() => host.now(), STALE + 2 * interval);
  await listen(args.listen, exportRoutes(lastLook, args['per-file']));
  const log = openLog(args['log-format']);
  const answers = `GET http://${args.listen.host}:${args.listen.port}/metrics answers`;
  log.info({}, `${answers}, with a look every ${formatDuration(interval)}`);
  for (const warning of [...unknownVariables(process.env), ...subject.warnings]) log.warn({}, warning);
  let told: string | undefined;
  for (let looks = 1; ; looks += 1) {
    const began = host.now();
    const found = await inspect().catch(
      (error: Error) => void log.error({}, `a look failed: ${error.message}`),
    );
    if (found) {
      lastLook.looked({ found, took: host.now() - began, looks });
      const why = unknownLag(found);
      if (why === undefined && told !== undefined) log.info({}, 'the lag is known again');
      if (why !== undefined && why !== told) log.warn({}, `lag unknown: ${why}`);
      told = why;
    }
    await pause(interval);
  }
}

/** While a look hangs, /metrics answers 503 instead of stale numbers. */
export function exportRoutes(lastLook: LastLook<Inspected>, perFile: number): Routes {
  const render = (last: Inspected) => metricsOfInspection(last, perFile) + buildInfo();
  const metrics = () => {
    const health = lastLook.health();
    return health.isWell ? lastLook.answer(METRICS_TYPE, render) : health;
  };
  return { get: { '/metrics': metrics, '/healthz': () => lastLook.health() } };
}

/** What the log says of an unknown lag: of many reasons the first, because `posidle inspect` shows all. */
export function unknownLag(found: Found): string | undefined {
  const broken = found.posFiles.filter(({ unparsable }) => brokenIn(unparsable).length > 0);
  const why = [
    ...unknownIn(found),
    ...broken.map(({ path }) => `${path}: it has lines that cannot be parsed`),
  ];
  return why.length === 0 ? undefined : andMore(why);
}

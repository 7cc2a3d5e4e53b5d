import { type Inspection, inspect } from '../core/inspection.ts';
import { EXIT } from '../core/outcome.ts';
import { listFollowed, lookAtFiles, readPosFiles } from '../daemon/collect.ts';
import { NodeHost } from '../node/node-host.ts';
import { renderInspection, verdictOf } from './inspect-table.ts';
import type { InspectArgs } from './options.ts';
import { findSubject } from './subject.ts';

/** `posidle inspect`: what is read, what is left. Resolves to the exit code. */
export async function runInspect(args: InspectArgs, write: (text: string) => void): Promise<number> {
  const host = new NodeHost();
  const found = await findSubject(host, {
    posFiles: args['pos-file'] ?? [],
    fluentConf: args['fluent-conf'],
  });
  const readings = await readPosFiles(host, found.posFiles);
  const looks = await lookAtFiles(host, readings);
  const followed = await listFollowed(host, found.conf?.sources ?? []);
  const inspection = inspect(readings, looks, followed);
  if (args.json) write(`${JSON.stringify(inspection, undefined, 2)}\n`);
  else write(args.check ? `${verdictOf(inspection)}\n` : renderInspection(inspection));
  if (args.check) return isWithin(inspection, args['max-lag']) ? EXIT.ok : EXIT.bug;
  return readings.every(({ kind }) => kind === 'read' || kind === 'empty') ? EXIT.ok : EXIT.bug;
}

function isWithin({ lag }: Inspection, maxLag: number): boolean {
  return lag !== null && lag <= maxLag;
}

import { setTimeout as pause } from 'node:timers/promises';
import { EXIT } from '../../core/drain/outcome.ts';
import type { Found } from '../../core/inspect/found.ts';
import { Paces } from '../../core/inspect/paces.ts';
import { summaryOf } from '../../core/inspect/summary.ts';
import type { NodeHost } from '../../node/node-host.ts';
import { canDraw, drawAll, Ending, ProgressLine, writeAll } from '../../node/output/terminal.ts';
import { Inspector } from '../../tasks/inspect-look.ts';
import type { InspectSubject } from '../../tasks/inspect-subject.ts';
import { INTERVAL, type InspectArgs } from '../options/inspect-options.ts';
import { frameOf } from './follow-frame.ts';
import { jsonParts, ndjsonLines } from './json.ts';
import type { View } from './table.ts';

export interface FollowTask {
  readonly host: NodeHost;
  readonly subject: InspectSubject;
  readonly view: View;
  readonly args: InspectArgs;
}

/** `posidle inspect --follow`: until the user has seen enough. */
export async function follow({ host, subject, view, args }: FollowTask): Promise<number> {
  const ending = new Ending();
  const inspector = new Inspector(host, subject, new Paces());
  const asText = args.json || args.ndjson || !canDraw();
  const tell = asText
    ? tellingChanges(view, args)
    : (found: Found) => drawAll((size) => frameOf(found, view, { ...size, at: new Date() }));
  const progress = new ProgressLine();
  inspector.onProgress = (text, isLong) => progress.tell(text, isLong);
  while (!ending.isWanted) {
    const found = await ending.orEnd(inspector.look());
    progress.wipe();
    inspector.onProgress = () => {};
    if (found) await tell(found);
    await ending.orEnd(pause(args.interval ?? INTERVAL));
  }
  return EXIT.ok;
}

function tellingChanges(view: View, args: InspectArgs): (found: Found) => Promise<void> {
  let before: ReadonlySet<string> = new Set();
  return async (found) => {
    const now = new Set(linesOf(found, view, args));
    const stamp = args.json || args.ndjson ? '' : `${new Date().toISOString()} `;
    await writeAll([...now].filter((line) => !before.has(line)).map((line) => `${stamp}${line}\n`));
    before = now;
  };
}

/** What is printed when it changes. */
function linesOf(found: Found, view: View, { json, ndjson }: InspectArgs): Iterable<string> {
  if (json) return [[...jsonParts(found, view)].join('').trimEnd()];
  return ndjson ? ndjsonLines(found, view) : [summaryOf(found)];
}

import { setTimeout as pause } from 'node:timers/promises';
import type { Found } from '../../core/inspect/found.ts';
import { Paces } from '../../core/inspect/paces.ts';
import { summaryOf } from '../../core/inspect/summary.ts';
import type { NodeHost } from '../../node/node-host.ts';
import { canDraw, drawAll, write } from '../../node/output/terminal.ts';
import { Inspector, type InspectSubject } from '../../tasks/inspect.ts';
import { INTERVAL, type InspectArgs } from '../options/inspect-options.ts';
import { frameOf } from './follow-frame.ts';
import { jsonOf } from './json.ts';
import type { View } from './table.ts';

export interface FollowTask {
  readonly host: NodeHost;
  readonly subject: InspectSubject;
  readonly view: View;
  readonly args: InspectArgs;
}

/** `posidle inspect --follow`: until the user has seen enough. Where nothing can be drawn, a line whenever it changes. */
export async function follow({ host, subject, view, args }: FollowTask): Promise<never> {
  const inspector = new Inspector(host, subject, new Paces());
  const lineOf = (found: Found) => (args.json ? jsonOf(found, view.states) : summaryOf(found));
  for (let before = ''; ; await pause(args.interval ?? INTERVAL)) {
    const found = await inspector.look();
    if (!args.json && canDraw()) {
      await drawAll((size) => frameOf(found, view, { ...size, at: new Date() }));
      continue;
    }
    const line = lineOf(found);
    if (line !== before) await write(`${args.json ? '' : `${new Date().toISOString()} `}${line}\n`);
    before = line;
  }
}

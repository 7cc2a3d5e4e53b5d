import { setTimeout as pause } from 'node:timers/promises';
import { EXIT } from '../../core/drain/outcome.ts';
import type { Found } from '../../core/inspect/found.ts';
import { SteadyOrder } from '../../core/inspect/order.ts';
import { Paces } from '../../core/inspect/paces.ts';
import { summaryOf } from '../../core/inspect/summary.ts';
import type { NodeHost } from '../../node/node-host.ts';
import { canDraw, Ending, Screen, Throttle, writeAll } from '../../node/output/terminal.ts';
import { Inspector } from '../../tasks/inspect-look.ts';
import type { InspectSubject } from '../../tasks/inspect-subject.ts';
import type { InspectArgs } from '../options/inspect-options.ts';
import { type Frame, frameOf, type Live } from './follow-frame.ts';
import { afterKey, isQuit, NO_WISHES } from './follow-keys.ts';
import { jsonParts, ndjsonLines } from './json.ts';
import type { View } from './table.ts';

export interface FollowTask {
  readonly host: NodeHost;
  readonly subject: InspectSubject;
  readonly view: View;
  readonly args: InspectArgs;
}

/** `posidle inspect --follow`: until the user has seen enough. */
export async function follow(task: FollowTask): Promise<number> {
  const { args, view } = task;
  const ending = new Ending();
  const inspector = new Inspector(task.host, task.subject, new Paces());
  if (args.json || args.ndjson || args.plain || !canDraw())
    await followAsText(inspector, { ...task, ending });
  else await new LiveView(inspector, view).run(args.interval, ending);
  return EXIT.ok;
}

async function followAsText(
  inspector: Inspector,
  { args, view, ending }: FollowTask & { readonly ending: Ending },
): Promise<void> {
  let before: ReadonlySet<string> = new Set();
  while (!ending.isWanted) {
    const found = await ending.orEnd(inspector.look());
    if (!found) return;
    const now = new Set(linesOf(found, view, args));
    const changed = [...now].filter((line) => !before.has(line));
    const stamp = args.json || args.ndjson ? '' : `${new Date().toISOString()} `;
    await writeAll(
      changed.map(
        (line) => `${stamp}${line}
`,
      ),
    );
    before = now;
    await ending.orEnd(pause(args.interval));
  }
}

/** What is printed when it changes. */
function linesOf(found: Found, view: View, { json, ndjson }: InspectArgs): Iterable<string> {
  if (json) return [[...jsonParts(found, view)].join('').trimEnd()];
  return ndjson ? ndjsonLines(found, view) : [summaryOf(found)];
}

/** A live view: what is found is drawn anew at each look, and at each key. */
class LiveView {
  readonly #inspector: Inspector;
  readonly #view: View;
  #live: Live;
  #frame: Frame | undefined;
  #found: Found | undefined;
  #screen: Screen | undefined;
  #ending: Ending | undefined;

  constructor(inspector: Inspector, view: View) {
    this.#inspector = inspector;
    this.#view = view;
    const seen = { order: new SteadyOrder(), at: new Date() };
    this.#live = { ...NO_WISHES, sort: view.sort ?? 'lag', ...seen, opened: undefined };
  }

  async run(interval: number, ending: Ending): Promise<void> {
    this.#ending = ending;
    this.#screen = new Screen({ key: (key) => this.#press(key), resize: () => this.#draw() });
    this.#tellFirstLook();
    try {
      while (!ending.isWanted) {
        if (!this.#live.paused) await ending.orEnd(this.#look());
        await ending.orEnd(pause(interval));
      }
    } finally {
      this.#screen.close();
    }
  }

  /** There is no picture yet, and a million files take some seconds. */
  #tellFirstLook(): void {
    const throttle = new Throttle((text) => this.#screen?.say(text));
    this.#inspector.onProgress = (text, isLong) => {
      if (this.#found === undefined) throttle.tell(text, isLong);
    };
  }

  async #look(): Promise<void> {
    const found = await this.#inspector.look();
    if (this.#live.paused) return;
    this.#found = found;
    this.#live = { ...this.#live, at: new Date() };
    this.#draw();
  }

  #press(key: string): void {
    if (isQuit(key, this.#live)) {
      this.#ending?.want();
      return;
    }
    const { page = 1, file } = this.#frame ?? {};
    const opened = this.#live.shows === 'files' ? file : this.#live.opened;
    this.#live = { ...this.#live, ...afterKey(this.#live, key, page), opened };
    this.#draw();
  }

  #draw(): void {
    const screen = this.#screen;
    if (screen === undefined || this.#found === undefined) return;
    const { rows, columns } = screen;
    this.#frame = frameOf(this.#found, this.#live, { rows, columns, view: this.#view });
    const { lines, top, chosen } = this.#frame;
    this.#live = { ...this.#live, top, chosen };
    screen.draw(lines);
  }
}

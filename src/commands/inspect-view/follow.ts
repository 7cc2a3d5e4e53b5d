import { setTimeout as pause } from 'node:timers/promises';
import { EXIT } from '../../core/drain/outcome.ts';
import { History } from '../../core/inspect/history.ts';
import { SteadyOrder } from '../../core/inspect/order.ts';
import { type Overview, summaryOf } from '../../core/inspect/overview.ts';
import { Track } from '../../core/inspect/track.ts';
import { printable, printableJson } from '../../core/text/printable.ts';
import type { NodeHost } from '../../node/node-host.ts';
import { canDraw, Ending, Screen, Throttle, writeAll } from '../../node/output/terminal.ts';
import { Inspector } from '../../tasks/inspect-look.ts';
import type { InspectSubject } from '../../tasks/inspect-subject.ts';
import type { InspectArgs } from '../options/inspect-options.ts';
import { verdictLines } from './follow-file.ts';
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
  const history = new History();
  const inspector = new Inspector(task.host, task.subject, history);
  if (args.json || args.ndjson || args.plain || !canDraw())
    await followAsText(inspector, { ...task, ending });
  else await new LiveView(inspector, history, view).run(args.interval, ending);
  return EXIT.ok;
}

/** Prints only lines that the look before did not have. */
async function followAsText(
  inspector: Inspector,
  { args, view, ending }: FollowTask & { readonly ending: Ending },
): Promise<void> {
  let before: ReadonlyMap<string, string> = new Map();
  while (!ending.isWanted) {
    const found = await ending.orEnd(inspector.look());
    if (!found) return;
    const now = new Map(linesOf(found, view, args));
    await writeAll([...now].filter(([key]) => !before.has(key)).map(([, line]) => `${line}\n`));
    before = now;
    await ending.orEnd(pause(args.interval));
  }
}

/** Each line with what must change before it is told again: that a file waits for a second longer is no news. */
function linesOf(found: Overview, view: View, args: InspectArgs): readonly (readonly [string, string])[] {
  if (args.ndjson) return Array.from(ndjsonLines(found, view), (line) => [line, line]);
  if (args.json) {
    const line = oneLine(jsonParts(found, view));
    return [[line, line]];
  }
  const key = `${summaryOf({ ...found, late: null })} ${found.verdict?.is}`;
  const line = [printable(summaryOf(found)), ...verdictLines(found.verdict)].join('; ');
  return [[key, `${new Date().toISOString()} ${line}`]];
}

function oneLine(parts: Iterable<string>): string {
  return printableJson(JSON.parse([...parts].join('')));
}

/** A live view: what is found is drawn anew at each look, and at each key. */
class LiveView {
  readonly #inspector: Inspector;
  readonly #view: View;
  #live: Live;
  #frame: Frame | undefined;
  #found: Overview | undefined;
  #screen: Screen | undefined;
  #ending: Ending | undefined;

  constructor(inspector: Inspector, history: History, view: View) {
    this.#inspector = inspector;
    this.#view = view;
    const seen = { history, total: new Track(), order: new SteadyOrder(), at: new Date() };
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
    const { total, history } = this.#live;
    this.#live = { ...this.#live, at: new Date() };
    total.add({ at: performance.now(), read: history.read, lag: found.totals.lag });
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

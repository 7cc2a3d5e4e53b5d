import { setTimeout as pause } from 'node:timers/promises';
import { EXIT } from '../../core/drain/outcome.ts';
import { History, Track } from '../../core/inspect/history.ts';
import { SORT_KEYS, type SortKey, SteadyOrder } from '../../core/inspect/order.ts';
import type { Overview } from '../../core/inspect/overview.ts';
import { printableJson } from '../../core/text/printable.ts';
import type { NodeHost } from '../../node/node-host.ts';
import { canDraw, Ending, Screen, Throttle, writeAll } from '../../node/output/terminal.ts';
import { Inspector } from '../../tasks/inspect-look.ts';
import type { InspectSubject } from '../../tasks/inspect-subject.ts';
import type { InspectArgs } from '../options/inspect-options.ts';
import { frameOf, type Live } from './follow-frame.ts';
import { FollowedLines } from './follow-lines.ts';
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

async function followAsText(
  inspector: Inspector,
  { args, view, ending }: FollowTask & { readonly ending: Ending },
): Promise<void> {
  const lines = new FollowedLines(view);
  while (!ending.isWanted) {
    const found = await ending.orEnd(inspector.look());
    if (!found) return;
    if (args.json) await writeAll(lines.ifChanged(oneLine(jsonParts(found, view))));
    else if (args.ndjson) await writeAll(lines.onlyChanged(ndjsonLines(found, view)));
    else await writeAll(lines.of(found, new Date()));
    await ending.orEnd(pause(args.interval));
  }
}

function oneLine(parts: Iterable<string>): string {
  return printableJson(JSON.parse([...parts].join('')));
}

const SCROLLS: Readonly<Record<string, number>> = { '\x1b[A': -1, k: -1, '\x1b[B': 1, j: 1 };
const PAGES: Readonly<Record<string, number>> = { '\x1b[5~': -1, '\x1b[6~': 1 };

/** A live view: what is found is drawn anew at each look, and at each key. */
class LiveView {
  readonly #inspector: Inspector;
  readonly #view: View;
  readonly #live: { -readonly [Key in keyof Live]: Live[Key] };
  readonly #history: History;
  #found: Overview | undefined;
  #screen: Screen | undefined;
  #ending: Ending | undefined;

  constructor(inspector: Inspector, history: History, view: View) {
    this.#inspector = inspector;
    this.#history = history;
    this.#view = view;
    const { sort = 'lag' } = view;
    const fresh = { total: new Track(), order: new SteadyOrder(), at: new Date() };
    this.#live = { sort, paused: false, top: 0, interval: 0, ...fresh };
  }

  async run(interval: number, ending: Ending): Promise<void> {
    this.#ending = ending;
    this.#live.interval = interval;
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
    this.#live.at = new Date();
    const { lag } = found.totals;
    this.#live.total.add({ at: performance.now(), read: this.#history.read, lag });
    this.#draw();
  }

  #press(key: string): void {
    if (key === 'q' || key === 'Q' || key === '\x03' || key === '\x04') this.#ending?.want();
    else if (key === 's') this.#live.sort = after(this.#live.sort);
    else if (key === ' ') this.#live.paused = !this.#live.paused;
    else this.#scroll(key);
    if (this.#ending?.isWanted !== true) this.#draw();
  }

  #scroll(key: string): void {
    const page = Math.max(1, (this.#screen?.rows ?? 24) - 8);
    const by = SCROLLS[key] ?? (PAGES[key] ?? 0) * page;
    this.#live.top = Math.max(0, this.#live.top + by);
  }

  #draw(): void {
    const screen = this.#screen;
    if (screen === undefined || this.#found === undefined) return;
    const size = { rows: screen.rows, columns: screen.columns };
    const live = { ...this.#live, history: this.#history };
    const { lines, top } = frameOf(this.#found, live, { ...size, view: this.#view });
    this.#live.top = top;
    screen.draw(lines);
  }
}

function after(key: SortKey): SortKey {
  return SORT_KEYS[(SORT_KEYS.indexOf(key) + 1) % SORT_KEYS.length] ?? 'lag';
}

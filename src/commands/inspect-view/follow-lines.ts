import { type Overview, summaryOf, type Verdict } from '../../core/inspect/overview.ts';
import { printable } from '../../core/text/printable.ts';
import type { Millis } from '../../core/text/units.ts';
import { FollowedPosFile } from './follow-pos-file.ts';
import type { View } from './table.ts';

/** Of logs that are written it is another one at each look. */
const SUMMARY_EVERY: Millis = 10_000;

const VERDICT_HOLDS: Millis = 5_000;

/** A live view where there is no terminal: lines with a timestamp, only of what has changed. */
export class FollowedLines {
  readonly #view: Pick<View, 'states'>;
  #posFiles = new Map<string, FollowedPosFile>();
  #was: Verdict['is'] = 'ok';
  #turned: { readonly is: Verdict['is']; readonly at: Millis } | undefined;
  #summary = '';
  #summedAt = Number.NEGATIVE_INFINITY;
  #lines = new Set<string>();

  constructor(view: Pick<View, 'states'>) {
    this.#view = view;
  }

  /** What has changed of each pos file and its log files, and the summary where it is another one. */
  *of(found: Overview, at: Date): Generator<string> {
    const stamp = at.toISOString();
    for (const line of this.#changes(found, at.getTime())) yield `${stamp} ${line}\n`;
  }

  /** The text, unless it is the one before. */
  ifChanged(text: string): readonly string[] {
    return this.onlyChanged([text]);
  }

  /** The lines that were not there in the look before. */
  onlyChanged(lines: Iterable<string>): readonly string[] {
    const now = new Set(lines);
    const changed = [...now].filter((line) => !this.#lines.has(line)).map((line) => `${line}\n`);
    this.#lines = now;
    return changed;
  }

  /** What holds: a pos file that is just being rewritten is unknown for an instant. The reason has figures that change. */
  *#verdict({ verdict }: Overview, at: Millis): Generator<string> {
    const is = verdict?.is ?? this.#was;
    if (this.#turned?.is !== is) this.#turned = { is, at };
    if (verdict === undefined || is === this.#was || at - this.#turned.at < VERDICT_HOLDS) return;
    yield printable(`${is}: ${verdict.why}`);
    this.#was = is;
  }

  *#changes(found: Overview, at: Millis): Generator<string> {
    const before = this.#posFiles;
    this.#posFiles = new Map();
    for (const posFile of found.posFiles) {
      const { path } = posFile;
      const followed = before.get(path) ?? new FollowedPosFile(path, this.#view.states);
      this.#posFiles.set(path, followed);
      const undiscovered = found.undiscovered.filter((file) => file.posFile === path);
      yield* followed.changes({ posFile, undiscovered, isOneOfSeveral: found.posFiles.length > 1 }, at);
    }
    for (const path of before.keys()) if (!this.#posFiles.has(path)) yield `${printable(path)} has gone`;
    yield* this.#verdict(found, at);
    const summary = summaryOf(found);
    if (summary === this.#summary || at - this.#summedAt < SUMMARY_EVERY) return;
    yield summary;
    this.#summary = summary;
    this.#summedAt = at;
  }
}

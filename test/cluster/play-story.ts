import type { Story } from './bench/scenarios.ts';
import { manifestsOf, type Strategy } from './bench/strategies.ts';
import { type Acts, play, type Report } from './play.ts';

export interface Result {
  readonly report: Report;
  readonly written: number;
  readonly lost: number;
}

export async function playStory({ lines, ...story }: Story, strategy: Strategy): Promise<Result> {
  let printed: readonly string[] = [];
  const printing = (acts: Acts): Acts => ({
    ...acts,
    during: async (pod) => {
      const [all] = await Promise.all([pod.printed('main'), acts.during?.(pod)]);
      printed = all;
    },
  });
  const report = await play(
    ({ endpoint }) => manifestsOf(story, strategy, endpoint),
    (destination) => {
      const acts = story.acts?.(destination) ?? {};
      return lines === undefined ? printing(acts) : acts;
    },
  );
  const lost =
    lines === undefined
      ? printed.filter((line) => !report.lines.has(line)).length
      : lines - report.lines.size;
  return { report, written: lines ?? printed.length, lost };
}

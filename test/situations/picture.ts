/** What has happened to so many lines at this time, in milliseconds from the start. */
export interface Sample {
  readonly at: number;
  readonly counts: Readonly<Record<string, number>>;
}

export interface Moment {
  readonly at: number;
  readonly what: string;
}

const WIDTH = 60;
const LEVELS = ' ▁▂▃▄▅▆▇█';
const FULL = LEVELS.length - 1;

/** A row for each count, up to its own most, and a row for each moment. */
export function pictureOf(samples: readonly Sample[], moments: readonly Moment[]): readonly string[] {
  const end = Math.max(1, ...samples.map(({ at }) => at), ...moments.map(({ at }) => at));
  const column = (at: number) => Math.min(WIDTH - 1, Math.floor((at / end) * WIDTH));
  const rows = Object.keys(samples[0]?.counts ?? {}).map((name) => {
    const seen = samples.map(({ at, counts }) => ({ at, count: counts[name] ?? 0 }));
    const most = Math.max(1, ...seen.map(({ count }) => count));
    const levels = new Array<number>(WIDTH).fill(0);
    for (const { at, count } of seen) levels.fill(Math.ceil((count / most) * FULL), column(at));
    return `${name.padEnd(10)} ${levels.map((level) => LEVELS[level]).join('')} ${seen.at(-1)?.count}`;
  });
  const marks = moments.map(
    ({ at, what }) => `${' '.repeat(11 + column(at))}▲ ${(at / 1_000).toFixed(1)} s ${what}`,
  );
  return [...rows, ...marks];
}

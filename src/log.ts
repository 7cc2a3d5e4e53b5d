export const LOG_FORMATS = ['json', 'pretty'] as const;
export type LogFormat = (typeof LOG_FORMATS)[number];

type Line = (facts: Readonly<Record<string, unknown>>, message: string) => void;

/** The daemon's access to the log. Each line has facts as data and one sentence. */
export interface Log {
  readonly info: Line;
  readonly warn: Line;
  readonly error: Line;
}

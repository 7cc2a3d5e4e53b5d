import { parseDuration, parseSize, writeDuration } from '../../src/core/text/units.ts';
import type { Settings } from '../simulation/plan.ts';
import type { Params } from '../support/fluentd-conf.ts';
import { LINE_BYTES } from '../support/numbered-lines.ts';

type Value = Params[string];

/** How a parameter or an option says a setting of the simulation. */
interface Unit {
  readonly read: (value: Value) => unknown;
  readonly write: (setting: never) => Value;
}

export type Words = Readonly<Record<string, readonly [setting: keyof Settings, unit: Unit]>>;

const SPAN: Unit = { read: (value) => parseDuration(String(value)), write: writeDuration };
/** Fluentd takes `0.5s` for 5 s (config/types.rb:48). */
const SECONDS: Unit = {
  read: (value) => parseDuration(String(value)) ?? Number(value) * 1_000,
  write: (setting: number) => setting / 1_000,
};
const COUNT: Unit = { read: Number, write: (setting: number) => setting };
/** Of lines, in bytes. */
const SIZE: Unit = {
  // `64k`: posidle takes it only with the B.
  read: (value) => Math.floor((parseSize(String(value).replace(/[a-z]$/, '$&B')) ?? 0) / LINE_BYTES),
  write: (setting: number) => setting * LINE_BYTES,
};
const WORD: Unit = { read: (value) => value, write: (setting: Value) => setting };

/** Parameters of in_tail. */
export const OF_TAIL: Words = {
  refresh_interval: ['refreshInterval', SECONDS],
  rotate_wait: ['rotateWait', SECONDS],
  read_lines_limit: ['batch', COUNT],
  read_bytes_limit_per_second: ['readLimit', SIZE],
};

export const OF_BUFFER: Words = {
  flush_interval: ['flushInterval', SECONDS],
  flush_at_shutdown: ['flushAtShutdown', WORD],
  chunk_limit_records: ['chunkLimit', COUNT],
  total_limit_size: ['totalLimit', SIZE],
  overflow_action: ['overflow', WORD],
  retry_max_times: ['retryMaxTimes', COUNT],
};

/** posidle's options. */
export const OF_ARGS: Words = {
  '--settle': ['settle', SPAN],
  '--start-timeout': ['startTimeout', SPAN],
  '--drain-timeout': ['drainTimeout', SPAN],
  '--grace': ['grace', SPAN],
  '--stop-timeout': ['stopTimeout', SPAN],
};

/** What the parameters set. */
export function settingsIn(params: Params, words: Words): Partial<Settings> {
  const found = Object.entries(params).flatMap(([name, value]) => {
    const [setting, unit] = words[name] ?? [];
    return setting === undefined ? [] : [[setting, unit?.read(value)]];
  });
  return Object.fromEntries(found);
}

/** The parameters that make these settings of the usual ones. */
export function paramsFor(settings: Settings, usual: Settings, words: Words): Params {
  const found = Object.entries(words).filter(([, [setting]]) => settings[setting] !== usual[setting]);
  return Object.fromEntries(
    found.map(([name, [setting, unit]]) => [name, unit.write(settings[setting] as never)]),
  );
}

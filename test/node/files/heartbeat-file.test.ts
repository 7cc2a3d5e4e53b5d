import { rmSync, utimesSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { HeartbeatFile } from '../../../src/node/files/trigger-files.ts';
import { tempDir } from '../../support/temp-dir.ts';

const AGE = 15_000;
const START_TIMEOUT = 600_000;

const inDir = tempDir();
let file: HeartbeatFile | undefined;
const path = () => inDir('alive');
const ended = vi.fn();
const warn = vi.fn();

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  file = undefined;
  vi.useRealTimers();
  vi.clearAllMocks();
});

function open(changes: { startTimeout?: number | 'off'; podStart?: number | undefined } = {}): void {
  const settings = { path: path(), age: AGE, podStart: undefined, startTimeout: START_TIMEOUT };
  file = new HeartbeatFile({ ...settings, warn, ...changes });
}

/** posidle looks once a second, until main has ended. */
function pass(span: number): void {
  for (let left = span; left > 0; left -= 1_000) {
    vi.advanceTimersByTime(Math.min(left, 1_000));
    if (!file?.look()) continue;
    file = undefined;
    ended();
  }
}

/** It is the end, and was none a moment before. */
function expectEnd(early: number, late: number): void {
  pass(early);
  expect(ended).not.toHaveBeenCalled();
  pass(late);
  expect(ended).toHaveBeenCalledOnce();
}

/** Main refreshes its file; its clock is ahead of posidle's by `ahead`. */
function beat(ahead = 0): void {
  writeFileSync(path(), '');
  const time = (Date.now() + ahead) / 1_000;
  utimesSync(path(), time, time);
}

function beatFor(span: number, ahead?: number): void {
  for (let passed = 0; passed < span; passed += 2_000) {
    beat(ahead);
    pass(2_000);
  }
}

test('a file that is refreshed no more is the end, once', () => {
  open();
  beatFor(60_000);
  expectEnd(12_500, 1_500);
  pass(60_000);
  expect(ended).toHaveBeenCalledOnce();
});

test('a file that never appears is no end, which is said once a minute', () => {
  open();
  pass(59_000);
  expect(warn).not.toHaveBeenCalled();
  pass(START_TIMEOUT - 59_000 + 1_000);
  expect(ended).not.toHaveBeenCalled();
  expect(warn.mock.calls.length).toBeGreaterThanOrEqual(9);
  expect(warn.mock.calls.length).toBeLessThanOrEqual(10);
  expect(warn.mock.lastCall?.[0]).toMatch(/alive\. .* --heartbeat-file must name the file/);
});

test('a file that disappears is no end, which is said; it counts anew when it is back', () => {
  open();
  beatFor(10_000);
  rmSync(path());
  pass(10 * AGE);
  expect(ended).not.toHaveBeenCalled();
  expect(warn).toHaveBeenCalledTimes(3);
  expect(warn.mock.lastCall?.[0]).toMatch(/alive\. That does not mean that main has ended/);
  beat();
  expectEnd(AGE - 1_000, 2_000);
});

test.each([
  ['an hour behind', -3_600_000],
  ['an hour ahead', 3_600_000],
])('a main whose clock is %s ends only when it stops', (_, ahead) => {
  open();
  beatFor(60_000, ahead);
  expectEnd(0, AGE + 1_000);
});

test('a pause of posidle itself is not counted: whatever stopped it stopped main too', () => {
  open();
  beatFor(10_000);
  const now = performance.now();
  const paused = vi.spyOn(performance, 'now').mockImplementation(() => now + 10 * AGE);
  vi.setSystemTime(Date.now() + 10 * AGE);
  pass(1_000);
  paused.mockRestore();
  expect(ended).not.toHaveBeenCalled();
});

test.each([
  ['of its Pod counts, also if it came before posidle', 0, -1_000, 'off', AGE],
  ['from before its Pod never counts', 0, 1_000, 'off', undefined],
  [
    'from long before may be of an earlier Pod, and counts after the start timeout',
    -3_600_000,
    undefined,
    START_TIMEOUT,
    START_TIMEOUT,
  ],
  ['from long before never counts without a start timeout', -3_600_000, undefined, 'off', undefined],
] as const)('a file %s, until it is refreshed', (_, ahead, podStart, startTimeout, end) => {
  beat(ahead);
  open({ podStart: podStart && Date.now() + podStart, startTimeout });
  if (end !== undefined) return expectEnd(end - 1_000, 3_000);
  pass(2 * START_TIMEOUT);
  expect(ended).not.toHaveBeenCalled();
  beat();
  expectEnd(AGE - 1_000, 2_000);
});

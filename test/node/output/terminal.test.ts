import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { ProgressLine } from '../../../src/node/output/terminal.ts';

const { isTTY } = process.stderr;
let told: string[];
let asked: number;

beforeEach(() => {
  told = [];
  asked = 0;
  process.stderr.isTTY = true;
  vi.useFakeTimers({ toFake: ['performance'] });
  vi.spyOn(process.stderr, 'write').mockImplementation((text) => told.push(String(text)) > 0);
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
  process.stderr.isTTY = isTTY;
});

/** Tells how far it is every millisecond. */
function tellFor(millis: number, progress: ProgressLine): void {
  for (let at = 0; at < millis; at += 1) {
    progress.tell(() => {
      asked += 1;
      return `part ${asked}`;
    });
    vi.advanceTimersByTime(1);
  }
}

test('progress is silent for a second, then told ten times a second, and wiped away', () => {
  const progress = new ProgressLine();
  tellFor(1_000, progress);
  progress.wipe();
  expect({ told, asked }).toEqual({ told: [], asked: 0 });
  tellFor(300, progress);
  progress.wipe();
  expect(told).toEqual([...[1, 2, 3].map((part) => `\rpart ${part}\x1b[K`), '\r\x1b[K']);
});

test('progress is told at once where it is known to take long, and wiped away', () => {
  const progress = new ProgressLine();
  progress.tell(() => 'reading', true);
  progress.wipe();
  expect(told).toEqual(['\rreading\x1b[K', '\r\x1b[K']);
});

test('progress fits on one line', () => {
  const progress = new ProgressLine();
  vi.advanceTimersByTime(1_000);
  progress.tell(() => 'x'.repeat(200));
  expect(told).toEqual([`\r${'x'.repeat(78)}…\x1b[K`]);
});

test('progress is kept from a stderr that is no terminal', () => {
  process.stderr.isTTY = false;
  const progress = new ProgressLine();
  tellFor(2_000, progress);
  progress.wipe();
  expect({ told, asked }).toEqual({ told: [], asked: 0 });
});

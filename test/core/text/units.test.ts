import { describe, expect, test } from 'vitest';
import {
  counted,
  formatAge,
  formatBytes,
  formatDuration,
  parseDuration,
  parseSize,
  writeDuration,
} from '../../../src/core/text/units.ts';

describe('a duration', () => {
  test('is read from a number and its unit', () => {
    const texts = ['0s', '500ms', '30s', '1.5s', '5m', '1h'];
    expect(texts.map(parseDuration)).toEqual([0, 500, 30_000, 1_500, 300_000, 3_600_000]);
  });

  const NONE = ['', '30', 's', '30 s', '-1s', '+1s', '1S', '1d', '1e3s', '.5s', '5.s', '30s ', 'off', '٣s'];
  test.each(NONE)('%j is none', (text) => {
    expect(parseDuration(text)).toBeUndefined();
  });

  test('is shown in units that a reader grasps', () => {
    const spans = [0, 9_949, 9_950, 42_000, 119_000, 300_000, 303_000, 7_800_000, 7_200_000];
    const told = ['0.0 s', '9.9 s', '10 s', '42 s', '119 s', '5 min', '5 min 3 s', '2 h 10 min', '2 h'];
    expect(spans.map(formatDuration)).toEqual(told);
  });

  test('is written as an option takes it', () => {
    const spans = [0, 1, 2_000, 60_000, 90_000, 1_500, 3_660_000, 7_200_000];
    const texts = ['0ms', '1ms', '2s', '1m', '90s', '1500ms', '61m', '2h'];
    expect(spans.map(writeDuration)).toEqual(texts);
  });
});

describe('a size', () => {
  test('is read from a number and its unit', () => {
    const texts = ['0', '4096', '1B', '64KiB', '10MB', '1kB', '1.5GiB', '2TB'];
    expect(texts.map(parseSize)).toEqual([0, 4_096, 1, 65_536, 10_000_000, 1_000, 1_610_612_736, 2e12]);
  });

  test.each(['', 'B', '1 KiB', '-1', '1K', '1kb', '1Ki', '0x10', '1PB'])('%j is none', (text) => {
    expect(parseSize(text)).toBeUndefined();
  });

  test.each([
    [0, '0 B'],
    [1_023, '1023 B'],
    [1_024, '1.0 KiB'],
    [1_048_524, '1023.9 KiB'],
    [1_048_525, '1.0 MiB'],
    [1_048_576, '1.0 MiB'],
    [13_002_342, '12.4 MiB'],
    [2 ** 40 - 1, '1.0 TiB'],
    [2 ** 52, '4096.0 TiB'],
  ])('of %d bytes is told as %s', (count, expected) => {
    expect(formatBytes(count)).toBe(expected);
  });
});

test('one is singular, and all other numbers are plural', () => {
  expect([0, 1, 2].map((count) => counted(count, 'file'))).toEqual(['0 files', '1 file', '2 files']);
});

test('an age fits a narrow column', () => {
  expect([0, 59_999, 60_000, 7_200_000, 1e9].map(formatAge)).toEqual(['0s', '59s', '1m', '2h', '11d']);
});

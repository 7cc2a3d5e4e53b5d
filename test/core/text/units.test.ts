import fc from 'fast-check';
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
import { RUNS } from '../../support/arbitraries.ts';

describe('a duration', () => {
  test.each([
    ['0s', 0],
    ['500ms', 500],
    ['30s', 30_000],
    ['1.5s', 1_500],
    ['5m', 300_000],
    ['1h', 3_600_000],
  ])('%s is read', (text, expected) => {
    expect(parseDuration(text)).toBe(expected);
  });

  test.each([
    '',
    '30',
    's',
    '30 s',
    '-1s',
    '+1s',
    '1S',
    '1d',
    '1e3s',
    '.5s',
    '5.s',
    '30s ',
    'off',
    'Infinitys',
    '٣s',
  ])('%j is none', (text) => {
    expect(parseDuration(text)).toBeUndefined();
  });

  test.each([
    [0, '0.0 s'],
    [9_949, '9.9 s'],
    [42_000, '42 s'],
    [119_000, '119 s'],
    [300_000, '5 min'],
    [303_000, '5 min 3 s'],
    [7_800_000, '2 h 10 min'],
    [7_200_000, '2 h'],
  ])('of %d ms is told as %s', (span, expected) => {
    expect(formatDuration(span)).toBe(expected);
  });

  test.each([
    [2_000, '2s'],
    [60_000, '1m'],
    [90_000, '90s'],
    [1_500, '1500ms'],
    [7_200_000, '2h'],
    ['off', 'off'],
  ] as const)('of %s is written as %s where an option takes it', (span, expected) => {
    expect(writeDuration(span)).toBe(expected);
  });

  test('that is written is read as it was', () => {
    fc.assert(
      fc.property(fc.nat(), (span) => {
        expect(parseDuration(writeDuration(span))).toBe(span);
      }),
      RUNS,
    );
  });
});

describe('a size', () => {
  test.each([
    ['0', 0],
    ['4096', 4_096],
    ['1B', 1],
    ['64KiB', 65_536],
    ['10MB', 10_000_000],
    ['1kB', 1_000],
    ['1.5GiB', 1_610_612_736],
    ['2TB', 2e12],
  ])('%s is read', (text, expected) => {
    expect(parseSize(text)).toBe(expected);
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
    [1_048_575, '1.0 MiB'],
    [1_048_576, '1.0 MiB'],
    [13_002_342, '12.4 MiB'],
    [2 ** 40 - 1, '1.0 TiB'],
    [2 ** 40, '1.0 TiB'],
    [2 ** 52, '4096.0 TiB'],
  ])('of %d bytes is told as %s', (count, expected) => {
    expect(formatBytes(count)).toBe(expected);
  });
});

test('one is told in the singular, all else in the plural', () => {
  expect([0, 1, 2].map((count) => counted(count, 'file'))).toEqual(['0 files', '1 file', '2 files']);
});

test('an age fits a narrow column', () => {
  expect([0, 59_999, 60_000, 7_200_000, 1e9].map(formatAge)).toEqual(['0s', '59s', '1m', '2h', '11d']);
});

import { describe, expect, it } from 'vitest';
import { parseBool, parseBytes, parseList, parseTime } from '../../../src/core/fluent-conf/params.ts';

describe('a value', () => {
  it.each([
    ['60', 60_000],
    ['0.5', 500],
    ['60s', 60_000],
    ['5m', 300_000],
    ['1h', 3_600_000],
    ['1d', 86_400_000],
    ['1.5s', 5_000],
    ['500ms', 30_000_000],
    ['x', 0],
  ])('%s is a time of %d ms', (text, time) => {
    expect(parseTime(text)).toBe(time);
  });

  it.each([
    ['8192', 8_192],
    ['8k', 8_192],
    ['64MB', 67_108_864],
    ['1G', 2 ** 30],
    ['1t', 2 ** 40],
    ['-1', -1],
    ['x', 0],
  ])('%s is a size of %d bytes', (text, size) => {
    expect(parseBytes(text)).toBe(size);
  });

  it('is true, false, or a list', () => {
    expect(['true', 'yes', '', '# note'].map(parseBool)).toEqual([true, true, true, true]);
    expect(['false', 'no', 'on', '1'].map(parseBool)).toEqual([false, false, false, false]);
    expect(['["a", "b"]', 'a , b', '', '[1'].map(parseList)).toEqual([['a', 'b'], ['a', 'b'], [], []]);
  });
});

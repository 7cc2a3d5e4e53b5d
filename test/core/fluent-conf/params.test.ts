import { describe, expect, it } from 'vitest';
import { parseBool, parseList, parseTime } from '../../../src/core/fluent-conf/params.ts';

describe('a value', () => {
  it('is a time in seconds, or in the unit that follows', () => {
    const texts = ['60', '0.5', '60s', '5m', '1h', '1d', '1.5s', '500ms', 'x'];
    const times = [60, 0.5, 60, 300, 3_600, 86_400, 5, 30_000, 0];
    expect(texts.map(parseTime)).toEqual(times.map((seconds) => seconds * 1_000));
  });

  it('is true, false, or a list', () => {
    expect(['true', 'yes', '', '# note'].map(parseBool)).toEqual([true, true, true, true]);
    expect(['false', 'no', 'on', '1'].map(parseBool)).toEqual([false, false, false, false]);
    expect(['["a", "b"]', 'a , b', '', '[1'].map(parseList)).toEqual([['a', 'b'], ['a', 'b'], [], []]);
  });
});

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { shortenMiddle, widthOf, wrap } from '../../../src/core/text/text-width.ts';
import { RUNS } from '../../support/arbitraries.ts';

test('the width of a text in a terminal is at most the computed one', () => {
  const texts = ['', 'app.log', '日本語.log', 'é', '🚀.log', '…'];
  expect(texts.map(widthOf)).toEqual([0, 7, 10, 2, 6, 1]);
});

describe('a text that is too wide', () => {
  test('is cut in the middle, and keeps more of its end', () => {
    expect(shortenMiddle('/var/log/containers/app-7f9c.log', 20)).toBe('/var/l…/app-7f9c.log');
    expect(shortenMiddle('/var/log/containers/app.log', 1)).toBe('…');
    expect(shortenMiddle('/short', 20)).toBe('/short');
  });

  test('is broken at its last space that fits, a word without one where it must be', () => {
    expect(wrap('note: what is left', 10)).toEqual(['note: what', '  is left']);
    expect(wrap('note: what', 10)).toEqual(['note: what']);
    expect(wrap('note: /var/log/app.log', 10)).toEqual(['note:', '  /var/log', '  /app.log']);
  });

  test('that is broken keeps all that is no space, and no line is too wide', () => {
    const any = fc.string({ unit: 'grapheme', maxLength: 60 });
    fc.assert(
      fc.property(any, fc.integer({ min: 8, max: 30 }), (text, width) => {
        const lines = wrap(text, width);
        expect(lines.join('').replaceAll(' ', '')).toBe(text.replaceAll(' ', ''));
        for (const line of lines) expect(widthOf(line)).toBeLessThanOrEqual(width);
      }),
      RUNS,
    );
  });

  test('is never wider than asked for, whatever it holds', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 40 }), fc.nat(30), (text, width) => {
        expect(widthOf(shortenMiddle(text, width))).toBeLessThanOrEqual(width);
      }),
      RUNS,
    );
  });
});

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decodePath } from '../../../src/core/pos-file/path-bytes.ts';
import { printable, printableJson } from '../../../src/core/text/printable.ts';
import { RUNS } from '../../support/arbitraries.ts';

const CONTROL = /(?! )[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}]/u;

describe('printable text', () => {
  test.each(['/var/log/app.log', 'a b', 'ünïcode 日本語 😀', ''])('leaves %j as it is', (text) => {
    expect(printable(text)).toBe(text);
  });

  test.each([
    ['\x1b[31mred', '\\x1b[31mred'],
    ['a\nb\r', 'a\\x0ab\\x0d'],
    ['\x9b2J', '\\x9b2J'],
    ['\u202egnp.exe', '\\u202egnp.exe'],
    ['\u2028', '\\u2028'],
    ['a\u200bb\ufeff\u00ad', 'a\\u200bb\\ufeff\\xad'],
    ['\u00a0\u3000\u3164', '\\xa0\\u3000\\u3164'],
    ['\u{e0041}', '\\u{e0041}'],
    ['\0\x7f', '\\x00\\x7f'],
  ])('of %j shows what could steer a terminal', (text, expected) => {
    expect(printable(text)).toBe(expected);
  });

  test('shows bytes that are no UTF-8 by their value', () => {
    expect(printable(decodePath(Uint8Array.of(0x61, 0xff, 0xe9)))).toBe('a\\xff\\xe9');
  });

  test('never holds a control character, whatever the bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 40 }), (bytes) => {
        expect(printable(decodePath(bytes))).not.toMatch(CONTROL);
      }),
      { ...RUNS, numRuns: 1_000 },
    );
  });

  test('as JSON holds no control character either, and is the same value', () => {
    const text = fc.string({ unit: fc.constantFrom(...'a"\\\n\x1b\x9b\u202e\udcff日\u{e0041}\u200b') });
    fc.assert(
      fc.property(fc.record({ text, count: fc.nat() }), (value) => {
        const json = printableJson(value);
        expect(json).not.toMatch(CONTROL);
        expect(JSON.parse(json)).toEqual(value);
      }),
      RUNS,
    );
  });
});

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decodePath, encodePath } from '../../../src/core/pos-file/path-bytes.ts';
import { pathBytes, RUNS } from '../../support/arbitraries.ts';
import { cpuSeconds } from '../../support/cpu-seconds.ts';

describe('a path', () => {
  test.each([
    '/var/log/app.log',
    '/with blanks/a b.log',
    '/ünïcode/日本語.log',
    '/😀.log',
    '\ufeff/bom.log',
    '/\ufffd.log',
    '',
  ])('that is UTF-8 (%s) stands as itself', (path) => {
    expect(decodePath(Buffer.from(path))).toBe(path);
    expect(Buffer.from(encodePath(path)).toString()).toBe(path);
  });

  test('shows a byte that is no UTF-8 as one lone surrogate', () => {
    expect(decodePath(Uint8Array.of(0x2f, 0xff, 0x61, 0xe9))).toBe('/\udcffa\udce9');
  });

  test('keeps what is UTF-8 beside bytes that are not', () => {
    expect(decodePath(Buffer.concat([Buffer.from('日'), Buffer.of(0xe6, 0x97), Buffer.from('本')]))).toBe(
      '日\udce6\udc97本',
    );
  });

  test('tells the replacement character from a byte that is no UTF-8', () => {
    expect(decodePath(Buffer.concat([Buffer.from('\ufffd'), Buffer.of(0xff, 0xef, 0xbf)]))).toBe(
      '\ufffd\udcff\udcef\udcbf',
    );
  });

  test('of half a MiB that is no UTF-8 throws no exception for each byte', async () => {
    expect(await cpuSeconds(() => decodePath(Buffer.alloc(2 ** 19, 0xff)))).toBeLessThan(3);
  });

  test('takes surrogates and overlong forms that stand as bytes for bytes', () => {
    for (const bytes of [
      [0xed, 0xb3, 0xbf],
      [0xc0, 0xaf],
      [0xf5, 0x80, 0x80, 0x80],
    ]) {
      expect([...encodePath(decodePath(Uint8Array.from(bytes)))]).toEqual(bytes);
    }
  });

  test('of any bytes turns back into the very bytes', () => {
    const anything = fc.oneof(pathBytes, fc.uint8Array({ maxLength: 64 }));
    fc.assert(
      fc.property(anything, (bytes) => {
        expect([...encodePath(decodePath(bytes))]).toEqual([...bytes]);
      }),
      { ...RUNS, numRuns: 2_000 },
    );
  });

  test('tells different bytes apart', () => {
    fc.assert(
      fc.property(pathBytes, pathBytes, (a, b) => {
        expect(decodePath(a) === decodePath(b)).toBe(Buffer.compare(a, b) === 0);
      }),
      RUNS,
    );
  });
});

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decodePath, encodePath } from '../../../src/core/pos-file/path-bytes.ts';
import { pathBytes, RUNS } from '../../support/arbitraries.ts';
import { cpuSeconds } from '../../support/cpu-seconds.ts';

describe('a path', () => {
  test.each(['/ünïcode/日本語.log', '/😀.log', '\ufeff/bom.log', '/\ufffd.log'])(
    'that is UTF-8 (%s) stands as itself',
    (path) => {
      expect(decodePath(Buffer.from(path))).toBe(path);
      expect(Buffer.from(encodePath(path)).toString()).toBe(path);
    },
  );

  test.each([
    ['shows a byte that is no UTF-8 as one lone surrogate', [0x2f, 0xff, 0x61, 0xe9], '/\udcffa\udce9'],
    ['keeps what is UTF-8 beside bytes that are not', [...Buffer.from('日'), 0xe6, 0x97], '日\udce6\udc97'],
    ['tells the replacement character from a byte', [0xef, 0xbf, 0xbd, 0xff, 0xef], '\ufffd\udcff\udcef'],
  ])('%s', (_, bytes, path) => {
    expect(decodePath(Uint8Array.from(bytes))).toBe(path);
  });

  test('with half a MiB that is no UTF-8 causes no exception for each byte', async () => {
    expect(await cpuSeconds(() => decodePath(Buffer.alloc(2 ** 19, 0xff)))).toBeLessThan(3);
  });

  test('takes surrogates and overlong forms that stand as bytes for bytes', () => {
    for (const hex of ['edb3bf', 'c0af', 'f5808080'])
      expect(Buffer.from(encodePath(decodePath(Buffer.from(hex, 'hex')))).toString('hex')).toBe(hex);
  });

  test('with any bytes becomes the same bytes again', () => {
    const anything = fc.oneof(pathBytes, fc.uint8Array({ maxLength: 64 }));
    fc.assert(
      fc.property(anything, (bytes) => {
        expect([...encodePath(decodePath(bytes))]).toEqual([...bytes]);
      }),
      { ...RUNS, numRuns: 2_000 },
    );
  });
});

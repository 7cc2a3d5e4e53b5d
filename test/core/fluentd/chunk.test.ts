import { describe, expect, test } from 'vitest';
import { chunkBirth, isChunk } from '../../../src/core/fluentd/chunk.ts';

const ID = '5f0a1b2c3d4e5f60718293a4b5c6d7e8';

describe('a chunk file is', () => {
  test.each([
    ['staged', `/buffer/buffer.b${ID}.log`, true],
    ['queued', `/buffer/buffer.q${ID}.log`, true],
    ['of a buffer with a prefix', `/buffer/prefix.q${ID}.log`, true],
    ['of file_single', `/buffer/fsb.app%2Elog.b${ID}.buf`, true],
    ['not the file of what Fluentd knows about it', `/buffer/buffer.b${ID}.log.meta`, false],
    ['not in another state', `/buffer/buffer.x${ID}.log`, false],
    ['not with too few digits', `/buffer/buffer.b${ID.slice(1)}.log`, false],
    ['not without a suffix', `/buffer/buffer.b${ID}`, false],
    ['not what lies in a directory of such a name', `/buffer.b${ID}.d/other`, false],
    ['not a log file', '/var/log/app.log', false],
  ])('%s', (_, path, isOne) => {
    expect(isChunk(path)).toBe(isOne);
  });
});

describe('the birth of a chunk', () => {
  const at = Date.UTC(2026, 10, 21, 12, 0, 0, 250);
  // lib/fluent/unique_id.rb: microseconds in 52 bits, 12 random bits, 8 random bytes.
  const id = `${(((BigInt(at) * 1_000n) << 12n) | 0xabcn).toString(16).padStart(16, '0')}0123456789abcdef`;

  test.each(['b', 'q'])('stands in its name (%s)', (state) => {
    expect(chunkBirth(`/buffer/buffer.${state}${id}.log`)).toBe(at);
  });

  test('is known of a chunk that was put aside only where it is named like one', () => {
    expect(chunkBirth(`/backup/${id}.log`)).toBeUndefined();
  });
});

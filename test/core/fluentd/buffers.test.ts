import { describe, expect, test } from 'vitest';
import { chunkId, isChunk } from '../../../src/core/fluentd/buffers.ts';

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

test.each([
  ['staged', `/buffer/buffer.b${ID}.log`, ID],
  ['queued', `/buffer/buffer.q${ID}.log`, ID],
  ['put aside', `/backup/${ID}.log`, undefined],
])('a chunk has the same id for as long as it lives: %s', (_, path, id) => {
  expect(chunkId(path)).toBe(id);
});

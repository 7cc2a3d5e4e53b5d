import { expect, test } from 'vitest';
import { chunkId } from '../../../src/core/fluentd/buffers.ts';

const ID = '5f0a1b2c3d4e5f60718293a4b5c6d7e8';

test.each([
  ['staged', `/buffer/buffer.b${ID}.log`, ID],
  ['queued', `/buffer/buffer.q${ID}.log`, ID],
  ['of a buffer with a prefix', `/buffer/prefix.q${ID}.log`, ID],
  ['of file_single', `/buffer/fsb.app%2Elog.b${ID}.buf`, ID],
  ['not the file of what Fluentd knows about it', `/buffer/buffer.b${ID}.log.meta`, undefined],
  ['not put aside', `/backup/${ID}.log`, undefined],
  ['not in another state', `/buffer/buffer.x${ID}.log`, undefined],
  ['not with too few digits', `/buffer/buffer.b${ID.slice(1)}.log`, undefined],
  ['not without a suffix', `/buffer/buffer.b${ID}`, undefined],
  ['not what lies in a directory of such a name', `/buffer.b${ID}.d/other`, undefined],
  ['not a log file', '/var/log/app.log', undefined],
])('a chunk has one id for as long as it lives: %s', (_, path, id) => {
  expect(chunkId(path)).toBe(id);
});

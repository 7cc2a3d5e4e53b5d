import { describe, expect, test } from 'vitest';
import type { BufferConf } from '../../../src/core/fluent-conf/buffer-sections.ts';
import {
  buffersWithoutAgent,
  heldBy,
  hiddenBuffers,
  NO_BUFFERS,
  outputsOf,
  type RetryLimit,
  unseenByConf,
  unseenIn,
} from '../../../src/core/fluentd/buffer-contents.ts';
import type { ChunkListing } from '../../../src/core/fluentd/chunk.ts';
import { confOf, outputReading, told } from '../../support/builders.ts';

const chunk = { path: '/buffer/1', size: 7, age: 0 };
const listing = (changes: Partial<ChunkListing> = {}): ChunkListing => ({
  chunks: [chunk],
  isThere: true,
  isFull: false,
  ...changes,
});
const here = { id: undefined };
const EVER = Number.POSITIVE_INFINITY;

describe('what a monitor_agent tells belongs to', () => {
  test('the output with its @id, in whatever order', () => {
    const agent = { worker: 0, outputs: [told({ id: 'b', chunks: 2 }), told({ id: 'a', chunks: 1 })] };
    expect(chunksByName([conf({ id: 'a' }), conf({ id: 'b' })], [agent])).toEqual({ a: 1, b: 2 });
  });

  test('the output of its type, in the order of the configuration, where no @id is set', () => {
    const outputs = [
      told({ id: 'object:1', type: 'http', chunks: 1 }),
      told({ id: 'object:2', type: 'forward', chunks: 2 }),
      told({ id: 'object:3', type: 'forward', chunks: 3 }),
    ];
    const buffers = [
      conf({ ...here, name: 'first forward' }),
      conf({ ...here, name: 'second forward' }),
      conf({ ...here, name: 'http', output: 'http' }),
    ];
    expect(chunksByName(buffers, [{ worker: 0, outputs }])).toEqual({
      'first forward': 2,
      'second forward': 3,
      http: 1,
    });
  });

  test('no output without an @id where it has one itself', () => {
    const agent = { worker: 0, outputs: [told({ id: 'named', chunks: 1 })] };
    expect(chunksByName([conf({ ...here, name: 'forward' })], [agent])).toEqual({
      forward: undefined,
      named: 1,
    });
  });

  test('the output of its worker, which is named where several are there', () => {
    const agents = [
      { worker: 1, outputs: [told({ id: 'a', chunks: 2 })] },
      { worker: 0, outputs: [told({ id: 'a', chunks: 1 })] },
    ];
    const buffers = [conf({ id: 'a', worker: 0 }), conf({ id: 'a', worker: 1 })];
    expect(chunksByName(buffers, agents)).toEqual({ 'a (worker 0)': 1, 'a (worker 1)': 2 });
    const keys = outputsOf(buffers, [], agents).map(({ key }) => key);
    expect(keys).toEqual(['0 a', '1 a']);
  });

  test('an output that the configuration does not show, whose buffer counts as one in memory', () => {
    const outputs = [told({ id: 'x' }), told({ id: 'object:9', type: 'http' })];
    expect(outputsOf([], [], [{ worker: 0, outputs }])).toMatchObject([
      { key: '0 x', name: 'x', inMemory: true, takesOwnEvents: false, mayDrop: false },
      { key: '0 object:9', name: 'an output of @type http', inMemory: true },
    ]);
  });

  test('nobody where no agent answered', () => {
    expect(chunksByName([conf({ id: 'a' })], [])).toEqual({ a: undefined });
  });
});

describe('a buffer', () => {
  test.each([
    ['lies on disk where its directory can be seen', listing(), [chunk]],
    ['is empty where its directory is', listing({ chunks: [] }), []],
    ['cannot be seen where its directory is not there', listing({ chunks: [], isThere: false }), undefined],
    ['cannot be seen where nobody looked', undefined, undefined],
  ])('%s', (_, found, onDisk) => {
    const [output] = outputsOf([conf({ chunkGlobs: ['/buffer/*'] })], [found], []);
    expect(output).toMatchObject({ inMemory: false, onDisk });
  });

  test.each<[string, Partial<BufferConf>, RetryLimit | undefined]>([
    ['gives up at a number of retries', { retryMaxTimes: 3 }, { times: 3, timeout: EVER, threads: 1 }],
    [
      'gives up, and sends with several threads',
      { retryMaxTimes: 3, flushThreads: 4 },
      { times: 3, timeout: EVER, threads: 4 },
    ],
    [
      'gives up, and has no thread, as with one',
      { retryMaxTimes: 3, flushThreads: 0 },
      { times: 3, timeout: EVER, threads: 1 },
    ],
    ['gives up after a time', { retryTimeout: 1_000 }, { times: EVER, timeout: 1_000, threads: 1 }],
    ['does not give up where nothing limits it', {}, undefined],
    ['does not give up where it retries for ever', { retryMaxTimes: 3, retryForever: true }, undefined],
    ['does not give up where a <secondary> takes it', { retryMaxTimes: 3, hasSecondary: true }, undefined],
  ])('%s', (_, changes, retryLimit) => {
    expect(outputsOf([conf(changes)], [], [])).toMatchObject([{ retryLimit }]);
  });

  test('that lies on disk and is told of holds the larger figure of the two', () => {
    const onDisk = [chunk, chunk];
    expect(heldBy(outputReading({ onDisk, told: told({ chunks: 1, bytes: 99 }) }))).toEqual({
      chunks: 2,
      bytes: 99,
    });
  });
});

test.each([
  ['a buffer that a monitor_agent tells of is seen', outputReading(), []],
  ['a buffer on disk is seen', outputReading({ told: undefined, inMemory: false, onDisk: [] }), []],
  [
    'a buffer on disk that may give up is not',
    outputReading({
      told: undefined,
      inMemory: false,
      onDisk: [],
      retryLimit: { times: 3, timeout: Number.POSITIVE_INFINITY, threads: 1 },
    }),
    ['out (it may give chunks up after some retries)'],
  ],
  ['a buffer in memory is not', outputReading({ told: undefined }), ['out (its buffer is in memory)']],
  [
    'a buffer on another disk is not',
    outputReading({ told: undefined, inMemory: false }),
    ['out (the directory of its buffer is not here)'],
  ],
])('%s', (_, output, unseen) => {
  expect(unseenIn({ ...NO_BUFFERS, outputs: [output] })).toEqual(unseen);
});

test.each([
  ['drop_oldest_chunk', true],
  ['block', false],
])('a full buffer with overflow_action %s throws chunks away: %s', (overflowAction, mayDrop) => {
  expect(outputsOf([conf({ overflowAction })], [], [])).toMatchObject([{ mayDrop }]);
});

test.each([
  ['is seen where it is counted', 0, []],
  [
    'is not seen where it is not',
    undefined,
    ['out (it throws chunks away when it is full, and only Fluentd 1.20 tells how many)'],
  ],
])('what a full buffer throws away %s', (_, dropped, unseen) => {
  const outputs = [outputReading({ mayDrop: true, told: told({ dropped }) })];
  expect(unseenIn({ ...NO_BUFFERS, outputs })).toEqual(unseen);
});

describe('before the first look', () => {
  const agent = (worker: number) => ({ bind: '127.0.0.1', port: 24_220, worker });
  const onDisk = conf({ id: 'disk', chunkGlobs: ['/buffer/*'] });
  const givesUp = conf({ id: 'gives up', chunkGlobs: ['/buffer/*'], retryMaxTimes: 3 });
  const buffers = [conf({ id: 'memory' }), onDisk, givesUp];

  test('it is known which buffers nobody will see', () => {
    expect(unseenByConf({ ...confOf([]), buffers })).toEqual(['memory', 'gives up']);
    expect(unseenByConf({ ...confOf([]), buffers, monitorAgents: [agent(0)] })).toEqual([]);
  });

  test('it is known which workers have no monitor_agent', () => {
    const both = { ...confOf([]), buffers: [conf({ worker: 0 }), conf({ worker: 1 })] };
    const without = buffersWithoutAgent({ ...both, monitorAgents: [agent(1)] });
    expect(without.map(({ worker }) => worker)).toEqual([0]);
  });

  test.each([
    ['none is known', undefined, /no fluent\.conf is known/],
    ['a part of it is not understood', { complete: false, monitorAgents: [] }, /cannot evaluate/],
    ['it has a monitor_agent', { complete: false, monitorAgents: [agent(0)] }, undefined],
    ['all of it is understood', { complete: true, monitorAgents: [] }, undefined],
  ])('fluent.conf may hide buffers where %s', (_, conf, why) => {
    expect(hiddenBuffers(conf)).toEqual(why === undefined ? [] : [expect.stringMatching(why)]);
  });
});

function chunksByName(buffers: readonly BufferConf[], answers: Parameters<typeof outputsOf>[2]) {
  const outputs = outputsOf(buffers, [], answers);
  return Object.fromEntries(outputs.map(({ name, told }) => [name, told?.chunks]));
}

function conf(changes: Partial<BufferConf> = {}): BufferConf {
  return {
    place: { file: 'fluent.conf', line: 1 },
    id: 'out',
    isNamed: !('id' in changes && changes.id === undefined),
    name: changes.id ?? 'out',
    output: 'forward',
    type: 'memory',
    chunkGlobs: [],
    flushAtShutdown: true,
    overflowAction: 'throw_exception',
    worker: 0,
    retryForever: false,
    flushThreads: 1,
    disableChunkBackup: false,
    hasSecondary: false,
    requireAckResponse: false,
    takesOwnEvents: false,
    ...changes,
  };
}

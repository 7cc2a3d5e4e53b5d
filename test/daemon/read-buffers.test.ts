import { expect, test } from 'vitest';
import type { ChunkListing } from '../../src/core/fluentd/buffers.ts';
import { listPutAside, readBuffers } from '../../src/daemon/read-buffers.ts';
import { chunkPath, confOf, LOG } from '../support/builders.ts';
import { FakeHost } from '../support/fake-host.ts';

const outputs = (...buffers: readonly string[]) =>
  buffers
    .map((buffer, index) => `<match ${index}>\n@type forward\n@id out${index}\n${buffer}</match>\n`)
    .join('');
const ON_DISK = '<buffer>\n@type file\npath /buffer\n</buffer>\n';
const read = (host: FakeHost, text: string) => readBuffers(host, { conf: confOf([LOG], text) });

test('a buffer on disk is its chunks, and one in memory is seen by nobody', async () => {
  const host = new FakeHost();
  host.writeFile(chunkPath(1), 'lines');
  expect(await read(host, outputs(ON_DISK, ''))).toEqual({
    outputs: [{ name: 'out0', chunks: [{ path: chunkPath(1), size: 5 }] }],
    unseen: ['out1 (its buffer is in memory, or fluent.conf does not name its directory)'],
    givenUp: [],
  });
});

const refuse = () => Promise.reject(new Error('EACCES'));
const notHere = async () => ({ chunks: [], isThere: false });

test.each<[string, () => Promise<ChunkListing>, string]>([
  ['is not here', notHere, 'out0 (the directory of its buffer is not here)'],
  ['cannot be listed', refuse, 'out0 (its chunks cannot be listed: EACCES)'],
])('a buffer whose directory %s is seen by nobody', async (_, listChunks, why) => {
  const host = Object.assign(new FakeHost(), { listChunks });
  const { outputs: seen, unseen } = await read(host, outputs(ON_DISK));
  expect([seen, unseen[0]]).toEqual([[], why]);
});

test('buffers may be hidden where fluent.conf is not known, or not all of it', async () => {
  const host = new FakeHost();
  const none = { outputs: [], unseen: ['all buffers: no fluent.conf is known'], givenUp: [] };
  expect(await readBuffers(host, { conf: undefined })).toEqual(none);
  const unseen = ['buffers in the part of fluent.conf that posidle cannot evaluate'];
  expect(await read(host, '<source>\n@type "#{Dir.pwd}"\n</source>\n')).toMatchObject({ unseen });
});

test('a chunk that Fluentd put aside counts from when posidle began', async () => {
  const host = new FakeHost();
  const conf = confOf([LOG]);
  const aside = (name: string) => `/tmp/fluent/backup/worker0/out/${name}.log`;
  host.writeFile(aside('old'), 'x');
  const putAsideBefore = await listPutAside(host, { conf });
  host.writeFile(aside('new'), 'lines');
  const found = { path: aside('new'), size: 5 };
  expect((await readBuffers(host, { conf, putAsideBefore })).givenUp).toEqual([found]);
  expect((await readBuffers(host, { conf })).givenUp).toHaveLength(2);
});

test('if the backup chunks cannot be listed, it says so, and all count as new later', async () => {
  const conf = confOf([LOG]);
  const host = Object.assign(new FakeHost(), { listChunks: refuse });
  expect(await listPutAside(host, { conf })).toEqual(new Set());
  const unseen = ['the chunks that Fluentd gives up: they cannot be listed (EACCES)'];
  expect(await readBuffers(host, { conf })).toMatchObject({ unseen });
});

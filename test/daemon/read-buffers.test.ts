import { expect, test, vi } from 'vitest';
import type { ChunkListing } from '../../src/core/fluentd/buffers.ts';
import { Buffers } from '../../src/daemon/read-buffers.ts';
import { chunkPath, confOf, LOG } from '../support/builders.ts';
import { FakeHost } from '../support/fake-host.ts';

const outputs = (...buffers: readonly string[]) =>
  buffers
    .map((buffer, index) => `<match ${index}>\n@type forward\n@id out${index}\n${buffer}</match>\n`)
    .join('');
const ON_DISK = '<buffer>\n@type file\npath /buffer\n</buffer>\n';
const read = (host: FakeHost, text: string) => new Buffers(host, confOf([LOG], text)).look();

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
  expect(await new Buffers(host, undefined).look()).toEqual(none);
  const unseen = ['buffers in the part of fluent.conf that posidle cannot evaluate'];
  expect(await read(host, '<source>\n@type "#{Dir.pwd}"\n</source>\n')).toMatchObject({ unseen });
});

test('a chunk that Fluentd put aside counts from when posidle began', async () => {
  const host = new FakeHost();
  const buffers = new Buffers(host, confOf([LOG]));
  const aside = (name: string) => `/tmp/fluent/backup/worker0/out/${name}.log`;
  host.writeFile(aside('old'), 'x');
  await buffers.begin();
  host.writeFile(aside('new'), 'lines');
  await buffers.begin();
  const found = { path: aside('new'), size: 5 };
  expect((await buffers.look()).givenUp).toEqual([found]);
});

test('if the backup chunks cannot be listed, it says so, and all count as new later', async () => {
  const host = new FakeHost();
  const buffers = new Buffers(host, confOf([LOG]));
  const listing = vi.spyOn(host, 'listChunks').mockImplementation(refuse);
  await buffers.begin();
  const unseen = ['the chunks that Fluentd gives up: they cannot be listed (EACCES)'];
  expect(await buffers.look()).toMatchObject({ unseen });
  listing.mockRestore();
  host.writeFile('/tmp/fluent/backup/worker0/out/old.log', 'x');
  expect((await buffers.look()).givenUp).toHaveLength(1);
});

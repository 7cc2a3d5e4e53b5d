import { expect, test } from 'vitest';
import type { Policy } from '../../src/core/drain/policy.ts';
import { chunkPath, confOf, LOG, run } from '../support/builders.ts';
import type { FakeFluentd } from '../support/fake-fluentd.ts';
import { FakeHost } from '../support/fake-host.ts';

const DONE = 10_000;
const FILE_BUFFER = '<match app>\n@type forward\n<buffer>\n@type file\npath /buffer\n</buffer>\n</match>\n';
const IN_MEMORY = '<match app>\n@type forward\n</match>\n';

/** The line of main is read at 2 s; what happens then, and main is done at 10 s. Gives what was sent, and when after that. */
async function sentAfter(
  happens: (host: FakeHost, fluentd: FakeFluentd) => void,
  { rules = {}, buffer = '' }: { readonly rules?: Partial<Policy>; readonly buffer?: string } = {},
): Promise<readonly (readonly [string, number])[]> {
  const host = new FakeHost();
  const fluentd = host.startFluentd();
  host.at(2_000, () => host.appendLog(LOG, 'one line\n'));
  happens(host, fluentd);
  host.at(DONE, () => host.request('done-file'));
  await run(host, { quiet: 'off', ...rules }, { conf: confOf([LOG], buffer) });
  return host.sent.map((sent) => {
    const [signal = '', , at = ''] = sent.split(' ');
    return [signal, Number(at.slice(1)) - DONE] as const;
  });
}

test('a buffer on disk is flushed, and waited for until its chunks are gone', async () => {
  const chunk = chunkPath(1);
  const sent = await sentAfter(
    (host) => {
      host.at(2_000, () => host.writeFile(chunk, 'lines'));
      host.at(15_000, () => host.files.delete(chunk));
    },
    { buffer: FILE_BUFFER },
  );
  expect(sent).toEqual([
    ['SIGUSR1', expect.closeTo(0, -3)],
    ['SIGINT', expect.closeTo(5_000, -3)],
  ]);
});

test('a worker that was only just started gets no signal: it would die of it', async () => {
  const starts = (host: FakeHost, fluentd: FakeFluentd) => {
    host.at(9_500, () => {
      host.endProcess(4243);
      host.starting.add(4244);
      fluentd.startWorker(4244);
    });
    host.at(20_000, () => host.starting.delete(4244));
  };
  const sent = await sentAfter(starts, { buffer: IN_MEMORY });
  expect(sent.map(([signal]) => signal)).toEqual(['SIGUSR1', 'SIGINT']);
  expect(sent[0]?.[1]).toBeGreaterThanOrEqual(10_000);
});

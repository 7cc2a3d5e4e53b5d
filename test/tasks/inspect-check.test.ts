import { expect, test } from 'vitest';
import { checkVerdict } from '../../src/tasks/inspect-check.ts';
import { Inspector } from '../../src/tasks/inspect-look.ts';
import { LOG, POS, posText } from '../support/builders.ts';
import { FakeHost } from '../support/fake-host.ts';
import { inspectedBy } from '../support/inspected-by.ts';

/** Bytes written and bytes read by the second; every byte is a line. */
interface Course {
  readonly written: (second: number) => number;
  readonly read: (second: number) => number;
}

/** Checks a log that goes on like this, and how long that takes. */
async function checked({ written, read }: Course, undiscovered: readonly number[] = []) {
  const host = new FakeHost();
  const setTo = (second: number) => {
    host.writeFile(LOG, '\n'.repeat(written(second)), '7');
    if (second === 0 || read(second) !== read(second - 1))
      host.writeFile(POS, posText([{ path: LOG, position: read(second), inode: 7 }]));
  };
  setTo(0);
  for (let second = 1; second < 60; second += 1) host.at(second * 1_000, () => setTo(second));
  const files = undiscovered.map((size, at) => ({ path: `/new/${at}`, inode: `9${at}`, size }));
  const listed = { posFile: POS, refreshInterval: 60_000, byInode: false, files };
  const subject = { ...inspectedBy(host, [POS]), followed: async () => [listed] };
  const first = await new Inspector(host, subject).look();
  const { passed, reason } = await checkVerdict(host, subject, { first, interval: 1_000 });
  return { passed, reason, seconds: host.now() / 1_000 };
}

test('a log that is read to its end passes at once', async () => {
  expect(await checked({ written: () => 100, read: () => 100 })).toEqual({
    passed: true,
    reason: 'ok: caught up: 1 file',
    seconds: 0,
  });
});

test('a busy log passes when what was left at first is read, though more is left all the time', async () => {
  const found = await checked({ written: (at) => 300 + at * 100, read: (at) => at * 100 });
  expect(found).toEqual({ passed: true, reason: 'ok: behind by 300 B (3.0 s) in 1 of 1 file', seconds: 3 });
});

test('a log that is written faster than it is read fails after ten seconds', async () => {
  const found = await checked({ written: (at) => 10_000 + at * 100, read: (at) => at * 10 });
  expect(found.passed).toBe(false);
  expect(found.reason).toMatch(
    /^falling behind: \/var\/log\/app\.log is 11 s behind, .* and it grows: raise/,
  );
  expect(found.seconds).toBe(11);
});

test('a log that is caught up with passes, however long that takes', async () => {
  const found = await checked({ written: (at) => 10_000 + at, read: (at) => at * 100 });
  expect(found).toMatchObject({ passed: true, seconds: 11 });
});

test('a log that nobody reads fails', async () => {
  const found = await checked({ written: (at) => 100 + at, read: () => 50 });
  expect(found.passed).toBe(false);
  expect(found.reason).toMatch(
    /^stalled: \/var\/log\/app\.log stands still with \d+ B left; Fluentd's log tells why/,
  );
});

test('a log that in_tail will not find while the check lasts fails at once', async () => {
  expect(await checked({ written: () => 100, read: () => 100 }, [5])).toEqual({
    passed: false,
    reason: 'unknown: /new/0 is undiscovered; in_tail looks every 60 s',
    seconds: 0,
  });
});

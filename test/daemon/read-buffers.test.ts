import { expect, test } from 'vitest';
import { listPutAside, readBuffers } from '../../src/daemon/read-buffers.ts';
import { confOf, LOG, run } from '../support/builders.ts';
import { FakeHost } from '../support/fake-host.ts';

const conf = { ...confOf([LOG]), complete: false, backupGlobs: ['/backup/*'] };

/** Nobody can list what Fluentd has put aside. */
class CrowdedHost extends FakeHost {
  override async listBackups(): Promise<never> {
    throw new Error('more than 100000 names are to be looked at');
  }
}

test('that nobody can list what was put aside is told, and keeps nobody from the buffers', async () => {
  const { backups, backupsUnknown } = await readBuffers(new CrowdedHost(), { conf }, true);
  expect(backups).toEqual([]);
  expect(backupsUnknown).toMatch(/^the chunks that Fluentd puts aside, .*more than 100000 names/);
});

test('a drain after which nobody can list what was put aside is unproven, and says so', async () => {
  const host = new CrowdedHost().at(20_000, (h) => h.request('SIGTERM'));
  const fluentd = host.startFluentd();
  host.appendLog(LOG, 'one line\n');
  fluentd.read(LOG);
  const { outcome } = await run(host, {}, { conf });
  expect(outcome.drained).toBe('unproven');
  expect(outcome.left.unseen).toContainEqual(expect.stringMatching(/^the chunks that Fluentd puts aside/));
});

test('what was put aside before the start does not count; what cannot be listed then counts later', async () => {
  const host = new FakeHost();
  host.appendLog('/backup/old', 'a chunk\n');
  const putAsideBefore = await listPutAside(host, { conf });
  host.appendLog('/backup/new', 'a chunk\n');
  const pathsOf = async (before: ReadonlySet<string>) =>
    (await readBuffers(host, { conf, putAsideBefore: before }, true)).backups.map(({ path }) => path);
  expect(await pathsOf(putAsideBefore)).toEqual(['/backup/new']);
  expect(await pathsOf(await listPutAside(new CrowdedHost(), { conf }))).toEqual([
    '/backup/new',
    '/backup/old',
  ]);
  expect([...(await listPutAside(host, { conf: undefined }))]).toEqual([]);
});

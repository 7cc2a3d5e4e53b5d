import { existsSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { expect } from 'vitest';
import { type Ended, onFluentd, runDelivery, SOON, test, VERSIONS } from '../support/delivery.ts';
import type { Site } from '../support/delivery-site.ts';
import { fileBuffer, type Params, type Section, tail, toHttp } from '../support/fluentd-conf.ts';
import { IdTally } from '../support/numbered-lines.ts';
import { until } from '../support/until.ts';

const LINES = 2_000;
const THREE_TRIES = { retry_max_times: 3, retry_type: 'periodic', retry_wait: '1s' };

const confOf = (site: Site, buffer: Params = {}): Section[] => {
  const http = toHttp(site.sink.port, fileBuffer(site.buffer, { flush_interval: '1s', ...buffer }));
  return [
    tail(site.log('*.log'), site.pos, { refresh_interval: '2s' }),
    { ...http, params: { '@id': basename(site.dir), ...http.params } },
  ];
};
const rootDir = ({ dir }: Site): Section => ({ name: 'system', params: { root_dir: `${dir}/root` } });

onFluentd(VERSIONS, (version) => {
  /** The retry limit leaves the chunks in a directory since 1.19. */
  const evacuates = version !== '1.18.0';

  test.for([
    ['while posidle drains', undefined],
    ['before main has ended', /Hit limit for retries/],
  ] as const)('chunks that Fluentd gives up at the retry limit %s are told', async ([, first], { site }) => {
    site.sink.phase = 'refusing';
    const ended = await runDelivery(site, {
      version,
      conf: [rootDir(site), ...confOf(site, THREE_TRIES)],
      main: async (posidle) => {
        await site.write('app.log', LINES);
        if (first !== undefined) await until(`${first}`, () => first.test(posidle.stdout()));
      },
    });
    expect(ended).toMatchObject({ code: 3, delivered: 0 });
    expect(ended.outcome.doubts.worst).toContainEqual(expect.objectContaining({ kind: 'undelivered' }));
    if (evacuates) expectKept(ended);
    expect(ended.seconds).toBeLessThan(SOON);
  });

  test.for([
    ['below root_dir', rootDir],
    ['below FLUENT_BACKUP_DIR, where there is no root_dir', () => undefined],
  ] as const)(
    'chunks that the destination rejects are left, and their backup %s is named',
    async ([, system], { site }) => {
      site.sink.phase = 'rejecting';
      const root = system(site);
      const ended = await runDelivery(site, {
        version,
        conf: [...(root === undefined ? [] : [root]), ...confOf(site)],
        main: () => site.write('app.log', LINES),
      });
      expect(ended).toMatchObject({ code: 3, delivered: 0 });
      expectKept(ended);
      expect(existsSync(`${site.backup}/backup/worker0`)).toBe(root === undefined);
      expect(ended.seconds).toBeLessThan(SOON);
    },
  );
});

/** The lines can still be had: they stand in the files that the outcome names. */
function expectKept({ outcome: { outcome: word, left } }: Ended): void {
  expect(word).toBe('not-drained');
  const [chunk] = left.worst.flatMap((one) => (one.kind === 'given-up' ? [one.path] : []));
  const kept = new IdTally();
  kept.addDirectory(dirname(chunk ?? '/nowhere'));
  expect(kept.unique).toBe(LINES);
}

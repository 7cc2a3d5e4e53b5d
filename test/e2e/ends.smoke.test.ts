import { writeFileSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { expect } from 'vitest';
import { ONE_VERSION, onFluentd, runDelivery, SOON, test, watchDelivery } from '../support/delivery.ts';
import type { Site } from '../support/delivery-site.ts';
import { fileBuffer, type Params, type Section, tail, toHttp } from '../support/fluentd-conf.ts';
import { needsRoot } from '../support/needs.ts';
import { IdTally } from '../support/numbered-lines.ts';

const LINES = 2_000;
const THREE_TRIES = { retry_max_times: 3, retry_type: 'periodic', retry_wait: '1s' };
/** Root reads every file, but for these two capabilities. */
const WITHOUT_RIGHTS =
  process.getuid?.() === 0 ? ['setpriv', '--bounding-set', '-dac_override,-dac_read_search'] : [];

const confOf = (site: Site, buffer: Params = {}): Section[] => {
  const http = toHttp(site.sink.port, fileBuffer(site.buffer, { flush_interval: '1s', ...buffer }));
  return [
    tail(site.log('*.log'), site.pos, { refresh_interval: '2s' }),
    { ...http, params: { '@id': basename(site.dir), ...http.params } },
  ];
};

/** What the table of situations cannot set up: rights, a full disk, and where Fluentd keeps what it gives up. */
onFluentd(ONE_VERSION, (version) => {
  test('nothing waits for a file that only posidle may read, and it is named', async ({ site }) => {
    const path = site.log('secret.log');
    writeFileSync(path, 'nobody may read this\n', { mode: 0 });
    const main = () => site.write('app.log', LINES);
    const ended = await watchDelivery(site, {
      version,
      conf: confOf(site),
      main,
      fluentdWrapper: WITHOUT_RIGHTS,
    });
    expect(ended).toMatchObject({ lost: 0, code: 3, outcome: { outcome: 'not-drained' } });
    expect(ended.outcome.left.worst).toContainEqual(expect.objectContaining({ path, kind: 'unreadable' }));
    expect(ended.seconds).toBeLessThan(SOON);
  });

  test('lines that found no room on the disk of the buffer are counted', async ({ site, skip }) => {
    needsRoot({ skip });
    site.limitBuffer('200k');
    const main = async () => {
      await site.write('app.log', 20_000);
      await site.isRead('app.log');
    };
    const conf = confOf(site, { flush_interval: '60s', flush_at_shutdown: false });
    const ended = await runDelivery(site, { version, conf, main });
    expect(ended.lost).toBeGreaterThan(0);
    const why = `${ended.lost} records not taken, or missing`;
    const outcome = { outcome: 'unproven', doubts: { worst: [{ kind: 'unbalanced', why }] } };
    expect(ended).toMatchObject({ code: 3, outcome });
  });

  test.for([
    ['rejects', 'rejecting', {}],
    ['refuses until the retries are used up', 'refusing', THREE_TRIES],
  ] as const)('the chunks that the destination %s stand where the outcome says', async (row, { site }) => {
    const [, phase, buffer] = row;
    site.sink.phase = phase;
    const main = () => site.write('app.log', LINES);
    const ended = await runDelivery(site, { version, conf: confOf(site, buffer), main });
    expect(ended).toMatchObject({ code: 3, delivered: 0, outcome: { outcome: 'not-drained' } });
    const [path = '/nowhere'] = ended.outcome.left.worst.flatMap((one) =>
      one.kind === 'given-up' ? [one.path] : [],
    );
    const kept = new IdTally();
    kept.addDirectory(dirname(path));
    expect(kept.unique).toBe(LINES);
    expect(ended.seconds).toBeLessThan(SOON);
  });
});

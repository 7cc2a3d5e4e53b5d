import { appendFileSync, renameSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { describe, expect } from 'vitest';
import { onFluentd, runDelivery, said, startBeside, test, watchDelivery } from '../support/delivery.ts';
import type { Site } from '../support/delivery-site.ts';
import {
  memoryBuffer,
  renderConf,
  type Section,
  tail,
  toFile,
  toHttp,
  toStdout,
} from '../support/fluentd-conf.ts';
import { freePort } from '../support/free-port.ts';
import { workersOf } from '../support/own-processes.ts';
import { OLDEST_AND_NEWEST } from '../support/real-fluentd.ts';
import { until } from '../support/until.ts';

/** Nothing flushes by itself. */
const LAZY = { flush_mode: 'interval', flush_interval: 300 };

const inMemory = (site: Site) => toHttp(site.sink.port, memoryBuffer(LAZY));
const logs = (site: Site) => tail(site.log('*.log'), site.pos, { refresh_interval: '1s' });

/** Where Fluentd puts aside what it gives up: /tmp/fluent belongs to all. */
const rootDir = (site: Site): Section => ({ name: 'system', params: { root_dir: `${site.dir}/root` } });

/** The witness has seen the file as long as it is now. */
const seenWhole = (site: Site) =>
  said(site, 'it is seen', ({ files }) =>
    files.some(({ size }) => size === statSync(site.log('app.log')).size),
  );

onFluentd(OLDEST_AND_NEWEST, (version) => {
  describe('is never drained:', () => {
    test('an unfinished last line', async ({ site }) => {
      const ended = await runDelivery(site, {
        version,
        conf: [logs(site), inMemory(site)],
        before: () => site.write('app.log', 20),
        main: async () => {
          await site.isRead('app.log');
          appendFileSync(site.log('app.log'), 'no newline');
        },
        args: ['--no-complete-last-line'],
      });
      expect(ended).toMatchObject({
        code: 3,
        outcome: {
          outcome: 'not-drained',
          left: { worst: [{ kind: 'unfinished', path: site.log('app.log'), bytes: 10 }] },
        },
      });
    });

    test('a memory buffer of a worker that was killed', async ({ site }) => {
      const ended = await runDelivery(site, {
        version,
        conf: [logs(site), inMemory(site)],
        before: () => site.write('app.log', 20),
        main: async (posidle) => {
          await site.isRead('app.log');
          const [worker = 0] = workersOf(site.dir);
          process.kill(worker, 'SIGKILL');
          await posidle.logged(/0 workers/).catch(() => {});
          await until('another worker', () => workersOf(site.dir).some((pid) => pid !== worker));
        },
      });
      expect(ended.lost).toBe(20);
      expect(ended.outcome).toMatchObject({ outcome: 'unproven' });
      expect(ended.outcome.doubts.worst).toContainEqual(expect.objectContaining({ kind: 'worker-died' }));
    });

    test('what copytruncate cut off while a full buffer kept in_tail from looking', async ({ site }) => {
      site.sink.phase = 'refusing';
      const small = { chunk_limit_size: '4k', total_limit_size: '8k', overflow_action: 'block' };
      const retry = { flush_interval: 1, retry_wait: 1, retry_max_interval: 1 };
      const out = toHttp(site.sink.port, memoryBuffer({ ...small, ...retry }));
      const conf = [tail(site.log('app.log'), site.pos), out];
      await site.write('app.log', 10);
      const fluentd = startBeside(site, { version, conf });
      const args = ['--pid-file', site.pidFile];
      const main = async () => {
        const isFull = async () => {
          await site.write('app.log', 100);
          return /buffer overflow/.test(fluentd.output());
        };
        await until('the buffer is full', isFull, { every: 300 });
        // in_tail holds what it had read, and looks no more.
        await site.write('app.log', 100);
        await seenWhole(site);
        truncateSync(site.log('app.log'));
        await site.write('app.log', 5);
        await seenWhole(site);
        site.sink.phase = 'up';
      };
      const ended = await watchDelivery(site, { version, conf, args, main }, fluentd);
      expect(ended.lost).toBeGreaterThan(0);
      expect(ended.outcome.doubts.worst).toContainEqual(
        expect.objectContaining({ kind: 'cut-short-unread', about: site.log('app.log') }),
      );
    });

    test('what a destination refused for good', async ({ site }) => {
      site.sink.phase = 'rejecting';
      const ended = await runDelivery(site, {
        version,
        conf: [rootDir(site), logs(site), toHttp(site.sink.port, memoryBuffer({ flush_mode: 'immediate' }))],
        before: () => site.write('app.log', 20),
      });
      expect(ended.lost).toBe(20);
      expect(ended.outcome.outcome).not.toBe('drained');
    });

    test('chunks beyond the retry limit, with a secondary that is dead too', async ({ site }) => {
      site.sink.phase = 'refusing';
      const secondary = { name: 'secondary', params: { '@type': 'http', endpoint: 'http://127.0.0.1:1/' } };
      const limits = {
        flush_mode: 'immediate',
        retry_wait: '0.1',
        retry_max_times: 4,
        retry_randomize: false,
      };
      const http = toHttp(site.sink.port, memoryBuffer(limits));
      const ended = await runDelivery(site, {
        version,
        conf: [rootDir(site), logs(site), { ...http, sections: [...(http.sections ?? []), secondary] }],
        before: () => site.write('app.log', 20),
        main: async (posidle) => {
          await until('it is given up', () => /hit limit for retries/i.test(posidle.stdout()), {
            within: 60_000,
          });
        },
      });
      expect(ended.lost).toBe(20);
      expect(ended.outcome).toMatchObject({ outcome: 'unproven' });
    });

    test('chunks of a command beyond the retry limit, of which Fluentd says nothing', async ({ site }) => {
      const limits = memoryBuffer({ flush_mode: 'immediate', retry_max_times: 0 });
      const exec: Section = {
        name: 'match',
        arg: 'app',
        params: { '@type': 'exec', command: "sh -c 'exit 1' --" },
        sections: [{ name: 'format', params: { '@type': 'json' } }, limits],
      };
      const ended = await runDelivery(site, {
        version,
        conf: [rootDir(site), logs(site), exec],
        before: () => site.write('app.log', 20),
        main: async (posidle) => {
          await until('it failed', () => posidle.stdout().includes('command exits with error code'));
        },
      });
      expect(ended.outcome).toMatchObject({
        outcome: 'unproven',
        doubts: { worst: [{ kind: 'heard', why: expect.stringMatching(/the queue was cleared$/) }] },
      });
    });

    test.for(['the same', 'no buffer'])(
      'what a reload with %s took from a buffer in memory',
      async (next, { site }) => {
        const rpc = `127.0.0.1:${await freePort()}`;
        const http = toHttp(site.sink.port, memoryBuffer({ ...LAZY, flush_at_shutdown: false }));
        const conf = [{ name: 'system', params: { rpc_endpoint: rpc } }, logs(site)];
        const before = [...conf, http];
        await site.write('app.log', 20);
        const fluentd = startBeside(site, { version, conf: before });
        const args = ['--pid-file', site.pidFile];
        const main = async () => {
          await site.isRead('app.log');
          if (next === 'no buffer') writeFileSync(site.conf, renderConf([...conf, toStdout()]));
          await fetch(`http://${rpc}/api/config.gracefulReload`);
          await said(site, 'it is reloaded', ({ ends }) => ends.some(({ buffer }) => buffer === 'reloaded'));
        };
        const ended = await watchDelivery(site, { version, conf: before, args, main }, fluentd);
        expect(ended.lost).toBe(20);
        expect(ended.outcome).toMatchObject({ outcome: 'unproven' });
        expect(ended.outcome.doubts.worst).toContainEqual(expect.objectContaining({ kind: 'reloaded' }));
      },
    );

    test('records that a filter could not take', async ({ site }) => {
      const filter: Section = {
        name: 'filter',
        arg: 'app',
        params: { '@type': 'record_transformer', enable_ruby: true },
        // biome-ignore lint/suspicious/noTemplateCurlyInString: Ruby that Fluentd evaluates
        sections: [{ name: 'record', params: { x: '${raise "no"}' } }],
      };
      const ended = await runDelivery(site, {
        version,
        conf: [logs(site), filter, inMemory(site)],
        before: () => site.write('app.log', 20),
      });
      expect(ended.lost).toBe(20);
      expect(ended.outcome).toMatchObject({ outcome: 'unproven' });
    });

    test.for<[string, Section[], string]>([
      [
        'records that a parser drops in silence',
        [
          {
            name: 'filter',
            arg: 'app',
            params: { '@type': 'parser', key_name: 'message', emit_invalid_record_to_error: false },
            sections: [{ name: 'parse', params: { '@type': 'json' } }],
          },
        ],
        'no-ack',
      ],
      [
        // Fluentd says it at the first, second, fourth … time, and its own events come first.
        'records that no <match> takes, of which Fluentd says nothing more',
        [
          { name: 'match', arg: 'app', params: { '@type': 'relabel', '@label': '@NOWHERE' } },
          {
            name: 'label',
            arg: '@NOWHERE',
            sections: [{ name: 'match', arg: 'other', params: { '@type': 'null' } }],
          },
        ],
        'heard',
      ],
    ])('%s', async ([, conf, doubt], { site }) => {
      const ended = await runDelivery(site, {
        version,
        conf: [logs(site), ...conf, inMemory(site)],
        before: () => site.write('app.log', 20),
        main: () => site.isRead('app.log'),
      });
      expect(ended.lost).toBe(20);
      expect(ended.outcome.outcome).toBe('unproven');
      expect(ended.outcome.doubts.worst).toContainEqual(expect.objectContaining({ kind: doubt }));
    });

    test('a file that was rotated in its first moments, unless it was read', async ({ site }) => {
      const ended = await runDelivery(site, {
        version,
        conf: [
          tail(site.log('app.log'), site.pos, { refresh_interval: '1s' }),
          toFile(site.out, memoryBuffer({ timekey: '1d' })),
        ],
        main: async (posidle) => {
          await site.write('app.log', 20);
          renameSync(site.log('app.log'), site.log('app.log.1'));
          await site.write('app.log', 5);
          await posidle.logged(/fluentd runs/);
          await site.isRead('app.log');
        },
      });
      if (ended.lost === 0) expect(ended.outcome.outcome).toBe('drained');
      else
        expect(ended.outcome.doubts.worst).toContainEqual(
          expect.objectContaining({ kind: 'nobody-saw-it-read' }),
        );
    });
  });
});

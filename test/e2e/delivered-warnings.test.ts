import { writeFileSync } from 'node:fs';
import { expect } from 'vitest';
import { test } from '../support/delivery.ts';
import type { Site } from '../support/delivery-site.ts';
import {
  memoryBuffer,
  output,
  type Params,
  renderConf,
  type Section,
  tail,
} from '../support/fluentd-conf.ts';
import { startPosidle } from '../support/posidle.ts';

/** No Fluentd runs there. */
const ALONE = ['unshare', '--fork', '--pid', '--mount-proc', '--kill-child', process.execPath, 'dist/cli.js'];
const ACK = /require_ack_response true/;
const SECONDARY = /<secondary>/;

const server: Section = { name: 'server', params: { host: '127.0.0.1', port: 24_224 } };
const secondary: Section = {
  name: 'secondary',
  params: { '@type': 'secondary_file', directory: '/tmp/posidle-secondary' },
};
const forward = (params: Params = {}): Section => output('forward', params, [server, memoryBuffer()]);
const http = (buffer: Params, more: Section[] = []): Section =>
  output('http', { endpoint: 'http://127.0.0.1:9880/' }, [memoryBuffer(buffer), ...more]);

test.for<[string, Section, RegExp]>([
  ['forward without require_ack_response', forward(), ACK],
  [
    'the same inside copy',
    output('copy', {}, [{ name: 'store', params: { '@type': 'forward' }, sections: [server] }]),
    ACK,
  ],
  ['retry_max_times without <secondary>', http({ retry_max_times: 3 }), SECONDARY],
  ['retry_timeout without <secondary>', http({ retry_timeout: '1m' }), SECONDARY],
])('%s is warned of once, with its line and the remedy', async ([, match, remedy], { site }) => {
  const warnings = (await warningsOf(site, match)).filter((warning) => remedy.test(warning));
  expect(warnings).toHaveLength(1);
  const [, line] = new RegExp(`${site.conf}:(\\d+)`).exec(warnings[0] ?? '') ?? [];
  expect(linesOf(match)).toContain(Number(line));
});

test.for<[string, Section]>([
  ['forward with require_ack_response', forward({ require_ack_response: true })],
  ['retry_max_times with <secondary>', http({ retry_max_times: 3 }, [secondary])],
  ['the default retry_timeout of 72 hours', http({})],
])('%s is not warned of', async ([, match], { site }) => {
  const warnings = await warningsOf(site, match);
  expect(warnings.filter((warning) => ACK.test(warning) || SECONDARY.test(warning))).toEqual([]);
});

const source = tail('/var/log/app/*.log', '/var/log/app/app.pos', { refresh_interval: '2s' });
/** The numbers of the lines from <match> to </match>, which come after the source. */
function linesOf(match: Section): number[] {
  const count = (section: Section) => renderConf([section]).trimEnd().split('\n').length;
  return Array.from({ length: count(match) }, (_, index) => count(source) + 1 + index);
}

/** What `watch` warns of at its start. */
async function warningsOf(site: Site, match: Section): Promise<string[]> {
  writeFileSync(site.conf, renderConf([source, match]));
  const run = startPosidle(['watch', '-c', site.conf, '--start-timeout', '1s'], { wrapper: ALONE });
  expect(await run.exited).toBe(4);
  return run.log().flatMap(({ level, msg }) => (level === 'warn' ? [msg] : []));
}

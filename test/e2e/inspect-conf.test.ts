import { mkdirSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { inspectedDir } from '../support/inspected-dir.ts';

const { at, logged, posFile, shell } = inspectedDir();

const inspect = (conf: string, options = '') => {
  writeFileSync(at('f.conf'), conf);
  return shell(`posidle inspect -c f.conf ${options}`);
};
const source = (params: string) => `<source>\n@type tail\n${params}\nread_from_head true\n</source>\n`;

test("a node's collector that takes all from the environment is read whole, with the environment and without", () => {
  const logs = at('logs');
  for (const name of ['logs', 'root/var/log', 'root/etc', 'root/etc/sources'])
    mkdirSync(at(name), { recursive: true });
  const conf = [
    `@include "#{ENV['SYSTEM_PART'] || 'system'}.conf"`,
    `@include "#{ENV['METRICS_PART'] || 'metrics'}.conf"`,
    '@include sources/*.conf\n@include more/*.conf',
    `<match **>\n@type forward\nhost "#{ENV['TO']}"\nport "#{ENV['PORT'] || 24224}"\n@id "#{Socket.gethostname}"\n</match>`,
  ];
  const parts = {
    'fluent.conf': `${conf.join('\n')}\n`,
    'system.conf': '<source>\n@type systemd\ntag a\n</source>\n',
    'metrics.conf': `<source>\n@type prometheus\nbind "#{ENV['BIND'] || '0.0.0.0'}"\n</source>\n`,
    'parse.conf': `<parse>\n@type "#{ENV['PARSER'] || 'json'}"\ntime_format "#{ENV['TIME'] || use_nil}"\n</parse>\n`,
    'sources/pods.conf': source(
      [
        `path "#{ENV['TAIL_PATH'] || '/var/log/*.log'}"`,
        `pos_file "#{File.join('/var/log/', ENV.fetch('POS_DIR', ''), 'pods.log.pos')}"`,
        `exclude_path "#{ENV['TAIL_EXCLUDE'] || use_default}"`,
        `tag "#{ENV['TAIL_TAG'] || 'kubernetes.*'}"\n@include ../parse.conf`,
      ].join('\n'),
    ),
  };
  for (const [name, text] of Object.entries(parts)) writeFileSync(at(`root/etc/${name}`), text);
  const inRoot = logged('a.log', 'one\ntwo\n', 4, at('root/var/log'));
  posFile('root/var/log/pods.log.pos', [{ ...inRoot, path: '/var/log/a.log' }]);
  const here = shell('posidle inspect --root root -c /etc/fluent.conf');
  expect(here.stdout).toMatch(/\/var\/log\/a\.log/);
  expect(here.stdout).not.toMatch(/note:|undiscovered/);
  posFile('pods.log.pos', [logged('a.log', 'one\ntwo\n', 8, logs), logged('x.log', '', 0, logs)]);
  const env = `TAIL_PATH='${logs}/*.log' TAIL_EXCLUDE='["${logs}/x*"]' POS_DIR='../..${at()}' METRICS_PART=metrics`;
  const named = shell(`${env} posidle inspect -c root/etc/fluent.conf --json`);
  expect(JSON.parse(named.stdout).posFiles).toMatchObject([{ path: `/var/log/../..${at()}/pods.log.pos` }]);
});

test('a configuration without in_tail has nothing to inspect, and is no mistake', () => {
  const { stdout, stderr, status } = inspect('<source>\n@type forward\n</source>\n', '--max-lag 0');
  expect([stdout, stderr, status]).toEqual(['f.conf has no in_tail source: nothing to inspect\n', '', 0]);
});

const LARGE = `# ${'x'.repeat(1_000)}\n`.repeat(5_000);
const KNOWN = source('path a.log\npos_file a.pos');

test.each([
  ['of five megabytes', LARGE + KNOWN],
  ['of a thousand sources', KNOWN + source('path b.log\npos_file a.pos').repeat(999)],
  ['with CRLF', KNOWN.replaceAll('\n', '\r\n')],
])('a configuration %s is read', (_, conf) => {
  posFile('a.pos', [{ ...logged('a.log', 'one\n', 4), path: 'a.log' }]);
  const { stdout, stderr } = inspect(conf, '--max-lag 0');
  expect([stdout, stderr]).toEqual(['caught up: 1 file\n', '']);
});

test.each([
  ['larger than eight megabytes', LARGE.repeat(2), 'f.conf: it cannot be read (it is too large: '],
  ['with a byte order mark', `\ufeff${KNOWN}`, 'f.conf:1: the file begins with a byte order mark; '],
  ['that includes itself', '@include f.conf\n', 'f.conf:1: @include f.conf includes itself'],
  [
    'that joins a number',
    source(`path /a\npos_file "#{File.join('/a', 1)}"`),
    `f.conf:4: pos_file is "#{File.join('/a', 1)}": File.join takes only strings; write the value out`,
  ],
])('a configuration %s is named in a line with the remedy before it, without a stack', (_, conf, line) => {
  const { stderr, status } = inspect(conf);
  const remedy =
    '--fluent-conf: f.conf: its pos files are unknown; name them with --pos-file, or give Fluentd a witness (`posidle witness` shows how)';
  const lines = stderr.trimEnd().split('\n');
  expect(status).toBe(2);
  expect(lines).toHaveLength(2);
  expect(lines[0]).toBe(`posidle: ${remedy}`);
  expect(lines[1]).toContain(line);
});

import { describe, expect, it } from 'vitest';
import { fluentConf } from '../../../src/core/fluent-conf/fluent-conf.ts';
import { parseConf } from '../../../src/core/fluent-conf/syntax.ts';
import { cpuSeconds } from '../../support/cpu-seconds.ts';
import { buffer, match, RUBY, read, section, tail } from './conf-text.ts';

const source = (params: string) => read(tail(params)).sources[0];

describe('an in_tail source', () => {
  it('has the defaults of Fluentd', () => {
    expect(source('path /a.log')).toEqual({
      posFile: undefined,
      paths: ['/a.log'],
      excludePaths: [],
      pathTimezone: undefined,
      globPolicy: 'backward_compatible',
      refreshInterval: 60_000,
      limitRecentlyModified: undefined,
      rotateWait: 5_000,
      multilineFlush: 0,
      followInodes: false,
    });
  });

  it('has no known files where its path holds a date that is not filled in', () => {
    const { sources, problems } = read(tail('path /a-%G%V.log, /b.log\nexclude_path ["/x-%Z"]'));
    expect(sources).toMatchObject([{ paths: [] }]);
    expect(problems).toEqual([
      'f.conf:1: path or exclude_path has %G, which posidle does not fill in: write * instead',
      'f.conf:1: path or exclude_path has %V, which posidle does not fill in: write * instead',
      'f.conf:1: path or exclude_path has %Z, which posidle does not fill in: write * instead',
    ]);
  });

  it('takes what decides on its files', () => {
    const some = source('path /a\nexclude_path ["/b", "/c"]\npath_timezone +05:30\n<group>\n</group>');
    expect(some).toMatchObject({ excludePaths: ['/b', '/c'], pathTimezone: '+05:30' });
    expect(source('path /a\nlimit_recently_modified 6h')?.limitRecentlyModified).toBe(6 * 3_600_000);
    const policies = ['always', 'extended', 'other'].map((policy) =>
      source(`path /a\nglob_policy ${policy}`),
    );
    expect(policies.map((one) => one?.globPolicy)).toEqual(['always', 'extended', 'backward_compatible']);
  });
});

describe('a warning', () => {
  const good = 'path /a\npos_file /p\nread_from_head true';

  it('is not given where nothing is lost', () => {
    expect(read(tail(good) + match('@type http')).warnings).toEqual([]);
    const near = 'path /logs/*.log,/other/app.log*\npos_file /logs/app.log.pos\nread_from_head true';
    expect(read(tail(near)).warnings).toEqual([]);
    const excluded = near.replace('*.log,', '*,').concat('\nexclude_path /logs/*.pos');
    expect(read(tail(excluded)).warnings).toEqual([]);
  });

  it.each([
    [tail('path /a\npos_file /p'), 'f.conf:1: in_tail without read_from_head true skips'],
    [tail('path /a\nread_from_head true'), 'f.conf:1: in_tail without pos_file leaves no trace'],
    [
      tail('path /logs/app*.log*\npos_file /logs/app.log.pos\nread_from_head true'),
      "f.conf:1: in_tail's path matches its own pos_file",
    ],
    [tail(`${good}\n<group>\n</group>`), 'f.conf:1: in_tail with <group> reads nothing more'],
  ])('is one sentence with its place: %j', (text, start) => {
    expect(read(text).warnings).toEqual([expect.stringContaining(start)]);
  });
});

describe('values that posidle cannot evaluate', () => {
  const source = (posFile: string) => tail(`path /a\npos_file "${posFile}"\nread_from_head true`);

  it('are one line for each reason', () => {
    const { problems, hidden } = read(source('#{Dir.pwd}/a') + source('#{Dir.pwd}/b').repeat(2));
    expect(problems).toEqual([
      expect.stringMatching(
        /^f\.conf:4 and 2 more places: pos_file is "#\{Dir\.pwd\}\/a": posidle evaluates only .*; write the value out$/,
      ),
    ]);
    expect(hidden).toEqual(problems);
  });

  it('have each reason that fits', () => {
    const { problems } = read(source('#{Dir.pwd}') + source("#{File.join('/a', 1)}"));
    expect(problems).toEqual([
      expect.stringContaining(': posidle evaluates only '),
      expect.stringContaining(': File.join takes only strings; write the value out'),
    ]);
  });
});

describe('a value that posidle cannot evaluate', () => {
  it.each([
    tail('path /a\npos_file /p\nread_from_head true\ntag "#{Dir.pwd}"'),
    tail('path /a\npos_file /p\nread_from_head true\n@id "#{Dir.pwd}"\nskip_refresh_on_startup "#{Dir.pwd}"'),
    match('@type http\nflush_interval "#{Dir.pwd}"'),
    match('@type http\n<buffer "#{Dir.pwd}">\n</buffer>'),
    match(
      `@type http\n${buffer('flush_mode "#{x}"\nflush_interval "#{x}"\ntimekey "#{x}"\ntimekey_wait "#{x}"')}`,
    ),
    section('system', 'process_name "#{Dir.pwd}"'),
  ])('is no problem where posidle does not need it: %j', (text) => {
    expect(read(text)).toMatchObject({ problems: [], warnings: [] });
  });

  it('is reported without values of the environment', () => {
    const secret = { ...RUBY, env: { SECRET: 'secret' } };
    const { problems } = read(tail('path /a\nexclude_path ["#{ENV[\'SECRET\']}#{x}"]'), secret);
    const told = /: exclude_path is "\["#\{ENV\['SECRET'\]\}#\{x\}"\]": posidle evaluates only /;
    expect(problems).toEqual([expect.stringMatching(told)]);
  });
});

it('<system> tells where Fluentd puts chunks aside, and may be missing', () => {
  const globs = (directory: string) =>
    ['backup/worker*/*/*.log', 'buffer/*/*.log', 'buffer/*/*.buf'].map((glob) => `${directory}/${glob}`);
  expect(read(section('system', 'root_dir /r')).backupGlobs).toEqual(globs('/r'));
  expect(read('').backupGlobs).toEqual(globs('/tmp/fluent'));
});

describe('several workers', () => {
  const system = section('system', 'workers 2');
  const buffered = match(`@type http\n${buffer('@type file\npath /b')}`);

  it('have a buffer each', () => {
    const conf = read(system + buffered);
    expect(conf.buffers.map(({ chunkGlobs }) => chunkGlobs)).toEqual([
      ['/b/worker0/buffer.*.log', '/b/buffer.*.log', '/b.*.log'],
      ['/b/worker1/buffer.*.log', '/b.*.log'],
    ]);
  });

  it('run only what their <worker> section holds, each with its own worker_id', () => {
    const pos = tail('path /a\npos_file "/pos/#{worker_id}"');
    const conf = read(system + section('worker 1', pos + buffered));
    expect(conf.sources.map(({ posFile }) => posFile)).toEqual(['/pos/1']);
    expect(conf.buffers.map(({ chunkGlobs }) => chunkGlobs[0])).toEqual(['/b/buffer.*.log']);
  });

  it('need a number that can be read', () => {
    expect(read(`<worker x>\n</worker>\n`).problems).toHaveLength(1);
  });
});

const MANY = 100_000;
const buffered = match(`@type http\n@id i\n${buffer('@type file')}`);
const blanks = ' '.repeat(MANY);

it.each([
  ['blanks in a tag', `<match a${blanks}b>\n@type http\n</match>\n`],
  ['comments in a tag', `<match a${' #'.repeat(MANY)}>\n@type http\n</match>\n`],
  ['blanks in a value', tail(`path /a${blanks}b`)],
  ['blanks in a list', tail(`exclude_path x${blanks}y`)],
  ['stars in a tag', `<match ${'*'.repeat(200)}x>\n@type http\n</match>\n`],
  ['backslashes in quotes', tail(`path '${'\\'.repeat(MANY)}`)],
  ['quotes in Ruby', tail(`path "#{${"\\'".repeat(MANY)}`)],
  ['strings that never end', tail('path "#{\n'.repeat(MANY / 10))],
  ['lists that never end', tail('path [\n'.repeat(MANY / 10))],
  ['digits in a time', tail(`rotate_wait ${'1'.repeat(MANY)}`)],
  ['digits in a size', tail(`read_bytes_limit_per_second ${'1'.repeat(MANY)}`)],
  ['brackets in a path', tail(`path ${'['.repeat(MANY)}\nglob_policy extended`)],
  ['slashes', section('system', `root_dir /${'/'.repeat(MANY)}x`) + buffered],
  ['sections in sections', '<store>\n'.repeat(MANY)],
  ['workers', section('system', 'workers 1000000') + tail('path /a').repeat(100)],
  ['<worker> sections', section('system', 'workers 256') + section('worker 0-999999999', '').repeat(2_000)],
])('a configuration with very many %s is read in time', async (_, text) => {
  const seconds = await cpuSeconds(() => {
    expect(fluentConf(parseConf(text, 'f.conf'), RUBY).problems.length).toBeLessThanOrEqual(2);
  });
  expect(seconds).toBeLessThan(20);
});

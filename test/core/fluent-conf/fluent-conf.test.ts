import { describe, expect, it } from 'vitest';
import { problemText } from '../../../src/core/fluent-conf/element.ts';
import { type FluentConf, fluentConf } from '../../../src/core/fluent-conf/fluent-conf.ts';
import type { RubyContext } from '../../../src/core/fluent-conf/ruby.ts';
import { parseConf } from '../../../src/core/fluent-conf/syntax.ts';
import { cpuSeconds } from '../../support/cpu-seconds.ts';

const ruby: RubyContext = { env: { SET: 'set' }, hostname: 'pod-1' };

function read(text: string, context: RubyContext = ruby): FluentConf {
  const { root, problems } = parseConf(text, 'f.conf');
  expect(problems).toEqual([]);
  return fluentConf(root, context);
}

const tail = (params: string) => `<source>\n@type tail\n${params}\n</source>\n`;
const source = (params: string) => read(tail(params)).sources[0];
const match = (params: string) => `<match app>\n${params}\n</match>\n`;

describe('an in_tail source', () => {
  it('has the defaults of Fluentd', () => {
    expect(source('path /a.log')).toEqual({
      place: { file: 'f.conf', line: 1 },
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
      hasGroup: false,
      readBytesLimitPerSecond: undefined,
    });
  });

  it('has several paths between delimiters', () => {
    expect(source('path /a, /b/*.log ,/a')?.paths).toEqual(['/a', '/b/*.log']);
    expect(source('path /a,1|/b\npath_delimiter |')?.paths).toEqual(['/a,1', '/b']);
  });

  it('has no known files where its path holds a date that is not filled in', () => {
    const { sources, problems } = read(tail('path /a-%G%V.log, /b.log\nexclude_path ["/x-%Z"]'));
    expect(sources).toMatchObject([{ paths: [] }]);
    expect(problems.map(problemText)).toEqual([
      'f.conf:1: path has %G, which posidle does not fill in: write * instead',
      'f.conf:1: path has %V, which posidle does not fill in: write * instead',
    ]);
  });

  it('takes times, sizes and switches as Fluentd does', () => {
    const text =
      'path /a\nrefresh_interval 5m\nrotate_wait 0.5\nread_bytes_limit_per_second 1m\nread_from_head\nfollow_inodes on';
    expect(source(text)).toMatchObject({
      refreshInterval: 300_000,
      rotateWait: 500,
      readBytesLimitPerSecond: 1_048_576,
      followInodes: false,
    });
    expect(source('path /a\nread_bytes_limit_per_second 1')?.readBytesLimitPerSecond).toBe(8_192);
  });

  it('takes what decides on its files', () => {
    const text =
      'path /a\nexclude_path ["/b", "/c"]\npath_timezone +05:30\nlimit_recently_modified 6h\nglob_policy always\n<group>\n</group>';
    expect(source(text)).toMatchObject({
      excludePaths: ['/b', '/c'],
      pathTimezone: '+05:30',
      limitRecentlyModified: 6 * 3_600_000,
      globPolicy: 'always',
      hasGroup: true,
    });
    expect(source('path /a\nglob_policy extended')?.globPolicy).toBe('extended');
    expect(source('path /a\nglob_policy other')?.globPolicy).toBe('backward_compatible');
  });

  it('is found by the old name of its type', () => {
    expect(read('<source>\ntype tail\npath /a\n</source>\n').sources).toMatchObject([{ paths: ['/a'] }]);
  });
});

describe('what cannot be evaluated', () => {
  it('is a problem that names the place, the parameter as it stands in the file, and the remedy', () => {
    const { problems, sources } = read(tail('path /a\npos_file "/pos/#{Dir.pwd}.pos"'));
    expect(sources[0]?.posFile).toBeUndefined();
    expect(problems.map(problemText)).toEqual([
      'f.conf:4: pos_file is "/pos/#{Dir.pwd}.pos", which posidle cannot evaluate (posidle evaluates only ENV, hostname, ' +
        'worker_id, use_nil and use_default): name the pos file to posidle',
    ]);
    expect(problems[0]).toMatchObject({ parameter: 'pos_file' });
  });

  it.each([
    tail('path /a\npos_file /p\nread_from_head true\ntag "#{Dir.pwd}"'),
    tail('path /a\npos_file /p\nread_from_head true\n@id "#{Dir.pwd}"\nskip_refresh_on_startup "#{Dir.pwd}"'),
    match('@type http\nflush_interval "#{Dir.pwd}"'),
    match('@type http\n<buffer "#{Dir.pwd}">\n</buffer>'),
    match(
      '@type http\n<buffer>\nflush_mode "#{x}"\nflush_interval "#{x}"\ntimekey "#{x}"\ntimekey_wait "#{x}"\n</buffer>',
    ),
    '<system>\nprocess_name "#{Dir.pwd}"\n</system>\n',
  ])('is no problem where posidle does not need it: %j', (text) => {
    expect(read(text)).toMatchObject({ problems: [], warnings: [] });
  });

  it('is told without what the environment holds', () => {
    const { problems } = read(tail('path /a\nexclude_path ["#{ENV[\'SECRET\']}"]'), {
      ...ruby,
      env: { SECRET: 'se"cret' },
    });
    expect(problems.map(({ text }) => text)).toEqual([
      expect.stringMatching(/^exclude_path is "\["#\{ENV\['SECRET'\]\}"\]", .* \(its result is not JSON\)/),
    ]);
  });

  it('includes a variable that only Fluentd may have', () => {
    const { problems } = read(tail(`path "#{ENV['A']}"\npos_file "#{ENV['B'] || '/b'}"`), {
      ...ruby,
      foreign: true,
    });
    expect(problems.map(({ text }) => text)).toEqual([
      expect.stringContaining("(A is not set in posidle's own environment)"),
    ]);
  });
});

it('<system> tells where Fluentd keeps its files, and may be missing', () => {
  const text = '<system>\nroot_dir /r\nconfig_include_dir /d\n</system>\n';
  const directories = { rootDir: '/r', backupDir: '/r', configIncludeDir: '/d' };
  expect(read(text).system).toEqual({ workers: 1, ...directories });
  expect(read('').system).toMatchObject({ workers: 1, backupDir: '/tmp/fluent' });
});

describe('several workers', () => {
  const system = '<system>\nworkers 2\n</system>\n';

  it('have a buffer each', () => {
    const conf = read(`${system}${match('@type http\n<buffer>\n@type file\npath /b\n</buffer>')}`);
    expect(conf.buffers.map(({ chunkGlobs }) => chunkGlobs)).toEqual([
      ['/b/worker0/buffer.*.log', '/b/buffer.*.log', '/b.*.log'],
      ['/b/worker1/buffer.*.log', '/b.*.log'],
    ]);
  });

  it('run only what their <worker> section holds, each with its own worker_id', () => {
    const pos = 'path /a\npos_file "/pos/#{worker_id}"';
    const conf = read(
      `${system}<worker 1>\n${tail(pos)}${match('@type http\n<buffer>\n@type file\npath /b\n</buffer>')}</worker>\n`,
    );
    expect(conf.sources.map(({ posFile }) => posFile)).toEqual(['/pos/1']);
    expect(conf.buffers.map(({ chunkGlobs }) => chunkGlobs[0])).toEqual(['/b/buffer.*.log']);
  });

  it('need a number that can be read', () => {
    expect(read(`<worker x>\n</worker>\n`).problems).toHaveLength(1);
  });
});

const MANY = 100_000;
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
  [
    'slashes',
    `<system>\nroot_dir /${'/'.repeat(MANY)}x\n</system>\n<match a>\n@type http\n@id i\n<buffer>\n@type file\n</buffer>\n</match>\n`,
  ],
  ['sections in sections', '<store>\n'.repeat(MANY)],
  ['workers', `<system>\nworkers 1000000\n</system>\n${tail('path /a').repeat(2_000)}`],
  [
    '<worker> sections',
    `<system>\nworkers 256\n</system>\n${'<worker 0-999999999>\n</worker>\n'.repeat(2_000)}`,
  ],
])('a configuration with very many %s is read in time', async (_, text) => {
  const seconds = await cpuSeconds(() => {
    const { root } = parseConf(text, 'f.conf');
    expect(fluentConf(root, ruby).sources.length).toBeLessThanOrEqual(20_000);
  });
  expect(seconds).toBeLessThan(20);
});

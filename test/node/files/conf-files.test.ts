import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { describe, expect, it } from 'vitest';
import { problemText } from '../../../src/core/fluent-conf/element.ts';
import type { RubyContext } from '../../../src/core/fluent-conf/ruby.ts';
import { placesBelow } from '../../../src/node/files/below-root.ts';
import { loadFluentConf } from '../../../src/node/files/conf-files.ts';
import { tempDir } from '../../support/temp-dir.ts';

const ruby: RubyContext = { env: { PART: 'part' }, hostname: 'pod-1' };
const inDir = tempDir();

function put(path: string, text: string): string {
  mkdirSync(dirname(inDir(path)), { recursive: true });
  writeFileSync(inDir(path), text);
  return inDir(path);
}

const tail = (path: string) =>
  `<source>\n@type tail\npath ${path}\npos_file /pos\nread_from_head true\n</source>\n`;

/** The problems of a file, without their places. */
const textsIn = async (file: string) =>
  (await loadFluentConf(file, { ruby })).problems.map(({ text }) => text);

async function paths(file: string, includeDir?: string): Promise<string[]> {
  const conf = await loadFluentConf(file, { ruby, includeDir });
  expect(conf.problems).toEqual([]);
  return conf.sources.flatMap((source) => source.paths);
}

describe('@include', () => {
  it('puts the files of a glob in its place, sorted, relative to the including file', async () => {
    put('d/b.conf', `${tail('/b')}@include deeper/*.conf\n`);
    put('d/a.conf', tail('/a'));
    put('d/deeper/c.conf', tail('/c'));
    const file = put('f.conf', `${tail('/first')}@include d/*.conf\n${tail('/last')}`);
    expect(await paths(file)).toEqual(['/first', '/a', '/b', '/c', '/last']);
  });

  it('adds parameters to a section', async () => {
    put('my source.conf', 'path /in\nread_from_head true\n');
    const file = put('f.conf', '<source>\n@type tail\npos_file /p\n@include my source.conf\n</source>\n');
    expect(await paths(file)).toEqual(['/in']);
  });

  it('may hold Ruby, or an absolute path', async () => {
    put('part.conf', tail('/p'));
    const text = `@include "#{ENV['PART']}.conf"\n@include ${inDir()}/part.conf\n@include none/*.conf\n`;
    expect(await paths(put('f.conf', text))).toEqual(['/p', '/p']);
  });

  it.each([
    ['part.conf', 'includes itself'],
    ["#{ENV['PART'] || 'f'}*.conf", 'includes itself'],
    ["https://#{ENV['PART']}@example.test/x", 'is a URL, which posidle does not fetch'],
    [`${'x'.repeat(300)}/*.conf`, 'cannot be listed (its path is longer than the system allows)'],
    ['http://example.test/x', 'is a URL, which posidle does not fetch'],
    ['#{Dir.pwd}/x', 'cannot be evaluated'],
  ])('that cannot be followed is a problem: %s', async (included, why) => {
    const { problems } = await loadFluentConf(put('part.conf', `\n@include "${included}"\n`), { ruby });
    const told = expect.stringContaining(`${inDir()}/part.conf:2: @include ${included} ${why}`);
    expect(problems.map(problemText)).toEqual([told]);
  });
});

describe('the text that the command line appends', () => {
  const given = (inlineConfig: string) =>
    loadFluentConf(put('d/f.conf', tail('/f')), { ruby, given: { inlineConfig } });

  it('includes files beside the configuration', async () => {
    put('d/part.conf', tail('/p'));
    const { sources, problems } = await given('@include part.conf\\n@include "#{ENV[\'PART\']}.conf"');
    expect(problems).toEqual([]);
    expect(sources.flatMap((source) => source.paths)).toEqual(['/f', '/p', '/p']);
  });

  it('has its own lines', async () => {
    const { problems } = await given('\n@include part.conf x\n</source>');
    const place = `${inDir()}/d/f.conf (--inline-config):3`;
    expect(problems.map(problemText)).toEqual([`${place}: </source> has no start tag`]);
  });

  it('is a problem where Fluentd reads it from its stdin', async () => {
    expect((await given('-')).problems.map(({ text }) => text)).toEqual(['Fluentd reads it from its stdin']);
  });
});

describe('a configuration file', () => {
  it('is YAML where the command line says so', async () => {
    const file = put('f.conf', 'config:\n  - source: {$type: tail, path: /a, pos_file: /p}\n');
    const { sources } = await loadFluentConf(file, { ruby, given: { configFileType: 'yaml' } });
    expect(sources).toMatchObject([{ paths: ['/a'] }]);
  });

  it('that is missing is a problem', async () => {
    expect(await textsIn(inDir('f.conf'))).toEqual(['it cannot be read (there is no such file)']);
  });

  it('may name a path that is not UTF-8', async () => {
    const file = put('f.conf', '');
    writeFileSync(file, Buffer.from(tail('/b\xff.log'), 'latin1'));
    expect(await paths(file)).toEqual(['/b\udcff.log']);
  });

  it('is YAML by its name, with the tags of Fluentd', async () => {
    put('more/b.yml', '- source:\n    $type: tail\n    path: /b\n    pos_file: /p\n');
    const file = 'path: !fluent/s "/#{ENV[\'PART\']}/*.log"\n      exclude_path: !fluent/json ["/x"]';
    const source = `$type: tail\n      ${file}\n      pos_file: /p\n      refresh_interval: 5`;
    const text = `config:\n  - source:\n      ${source}\n  - !include more/*.yml\n`;
    const { sources, problems } = await loadFluentConf(put('f.yaml', text), { ruby });
    expect(problems).toEqual([]);
    expect(sources).toMatchObject([
      { paths: ['/part/*.log'], excludePaths: ['/x'], refreshInterval: 5_000 },
      { paths: ['/b'] },
    ]);
  });

  it('is named in one line where its YAML cannot be read', async () => {
    const told = /^it cannot be read \(unexpected end of the stream .* \(3:1\)\)$/;
    const file = put('bad.yaml', 'config:\n  - source: [\n');
    expect(await textsIn(file)).toEqual([expect.stringMatching(told)]);
  });

  it('in YAML looks for its includes next to the last opened file, as Fluentd does', async () => {
    const source = (path: string) =>
      `- source: {$type: tail, path: ${path}, pos_file: /p, read_from_head: true}\n`;
    put('d/a.yaml', `${source('/a')}- !include b.yaml\n`);
    put('d/b.yaml', source('/b'));
    put('z.yaml', source('/beside'));
    put('d/z.yaml', source('/below'));
    const text = ['z.yaml', 'd/a.yaml', 'z.yaml'].map((name) => `  - !include ${name}\n`).join('');
    expect(await paths(put('f.yaml', `config:\n${text}`))).toEqual(['/beside', '/a', '/b', '/below']);
  });

  it('in YAML has merges, numbers and lists as Psych reads them', async () => {
    const files = '$type: tail, path: /logs/2024-01-02.log, exclude_path: [/logs/a, /logs/b], pos_file: /p';
    const common = `{${files}, tag: 2024-01-02, rotate_wait: 1000, read_from_head: !!bool true}`;
    const text = `config:\n  - source: &common ${common}\n  - source: {<<: *common, pos_file: /q}\n`;
    const { sources, problems } = await loadFluentConf(put('f.yaml', text), { ruby });
    expect(problems).toEqual([]);
    const paths = ['/logs/2024-01-02.log'];
    const shared = { paths, excludePaths: ['/logs/a', '/logs/b'], rotateWait: 1_000_000 };
    expect(sources).toMatchObject([
      { ...shared, posFile: '/p' },
      { ...shared, posFile: '/q' },
    ]);
  });

  it('is joined by what lies in the include directory, where the caller asks for it', async () => {
    put('conf.d/x/b.yaml', 'config:\n  - source:\n      $type: tail\n      path: /b\n      pos_file: /p\n');
    put('conf.d/a.conf', tail('/a'));
    put('conf.d/c.txt', tail('/c'));
    const file = put('f.conf', tail('/f'));
    expect(await paths(file, inDir('conf.d'))).toEqual(['/f', '/a', '/b']);
    expect(await paths(file)).toEqual(['/f']);
    const off = put('g.conf', `<system>\nconfig_include_dir ""\n</system>\n${tail('/g')}`);
    expect(await paths(off, inDir('conf.d'))).toEqual(['/g']);
    put('conf.d/s.conf', '<system>\n  root_dir /r\n</system>\n');
    const { system } = await loadFluentConf(file, { ruby, includeDir: inDir('conf.d') });
    expect(system.rootDir).toBeUndefined();
  });

  it('takes the include directory from the environment of Fluentd, unless <system> names one', async () => {
    put('of-env/a.conf', tail('/env'));
    put('of-system/a.conf', tail('/system'));
    const named = `<system>\nconfig_include_dir ${inDir('of-system')}\n</system>\n${tail('/f')}`;
    const found = async (text: string, directory: string) => {
      const env = { FLUENT_CONF_INCLUDE_DIR: directory };
      const options = { ruby: { ...ruby, env }, includeDir: inDir('of-system') };
      const { sources, problems } = await loadFluentConf(put('f.conf', text), options);
      expect(problems).toEqual([]);
      return sources.flatMap((source) => source.paths);
    };
    expect(await found(tail('/f'), inDir('of-env'))).toEqual(['/f', '/env']);
    expect(await found(named, inDir('of-env'))).toEqual(['/f', '/system']);
    expect(await found(tail('/f'), '')).toEqual(['/f']);
  });

  it('finds nothing behind a link to the include directory, also below another root', async () => {
    put('conf.d/a.conf', tail('/a'));
    symlinkSync('conf.d', inDir('link'));
    put('f.conf', tail('/f'));
    const placeOf = placesBelow(inDir());
    const found = async (includeDir: string) =>
      (await loadFluentConf('/f.conf', { ruby, includeDir, placeOf })).sources.flatMap(({ paths }) => paths);
    expect(await found('/conf.d')).toEqual(['/f', '/a']);
    expect(await found('/link')).toEqual(['/f']);
    expect(await found('/link/')).toEqual(['/f', '/a']);
  });

  it('reports an include directory that cannot be listed', async () => {
    symlinkSync('loop', inDir('loop'));
    const file = put('f.conf', tail('/f'));
    const { sources, problems } = await loadFluentConf(file, { ruby, includeDir: `${inDir('loop')}/` });
    expect(sources).toHaveLength(1);
    const text = expect.stringContaining(
      'cannot be listed (its symbolic links form a loop, or are too many)',
    );
    expect(problems).toMatchObject([{ text, parameter: 'config_include_dir' }]);
  });
});

describe('a configuration without an end', () => {
  const TOO_MANY = 'more than 2000 files are included: posidle reads no further';
  const LAUGHS = [
    'a: &a0 [lol]',
    ...Array.from({ length: 30 }, (_, n) => `a${n}: &a${n + 1} [${`*a${n},`.repeat(10)}]`),
  ];
  const MERGES = LAUGHS.map((line) => line.replace('lol', '{x: 1}'));

  it.each([
    ['a device', () => symlinkSync('/dev/zero', inDir('x.conf')), 'it is a device, not a regular file'],
    ['a FIFO', () => execFileSync('mkfifo', [inDir('x.conf')]), 'it is a pipe, not a regular file'],
    ['a sparse file', () => truncateSync(put('x.conf', ''), 2 ** 40), 'it is too large: 1.0 TiB'],
  ])('is not read: %s that is included', async (_, make, why) => {
    make();
    const told = expect.stringContaining(`it cannot be read (${why}`);
    expect(await textsIn(put('f.conf', '@include x.conf\n'))).toEqual([told]);
  });

  it('whose files include one another ends at 2000 files', async () => {
    for (let n = 0; n < 12; n += 1) put(`d/${n}.conf`, '@include *.conf\n');
    const problems = await textsIn(put('f.conf', '@include d/*.conf\n'));
    expect(problems.filter((text) => !/includes itself$/.test(text))).toEqual([TOO_MANY]);
  });

  it('with ever more includes ends, too', async () => {
    expect(await textsIn(put('f.conf', '@include none\n'.repeat(100_000)))).toEqual([TOO_MANY]);
  });

  it.each([
    ['aliases of aliases', [...LAUGHS, 'config: [{source: {$type: tail, paths: *a30}}]']],
    ['merges of merges', [...MERGES, 'config: [{source: {<<: *a30}}]']],
    ['an anchor that holds itself twice', ['config: &all', '  - source: {inner: *all, other: *all}']],
    ['a JSON value of aliases', [...LAUGHS, 'config: [{source: {$type: !fluent/json [*a30]}}]']],
  ])('is named where its YAML holds %s', async (_, lines) => {
    expect(await textsIn(put('f.yaml', lines.join('\n')))).toEqual([
      'it cannot be read (its aliases stand for more than 100000 values)',
    ]);
  });

  it('is none where an anchor holds itself once', async () => {
    const file = put('f.yaml', 'config: &all\n  - source: {$type: tail, inner: *all}\n');
    expect((await textsIn(file)).join()).not.toMatch(/aliases/);
  });
});

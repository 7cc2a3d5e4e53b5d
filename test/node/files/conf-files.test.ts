import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { describe, expect, it } from 'vitest';
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

/** The problems of a file. */
const textsIn = async (file: string) => (await loadFluentConf(file, { ruby })).problems;

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
    [`${'x'.repeat(300)}/*.conf`, 'cannot be listed (name too long)'],
    ['http://example.test/x', 'is a URL, which posidle does not fetch'],
    ['#{Dir.pwd}/x', 'cannot be evaluated'],
  ])('that cannot be followed is a problem: %s', async (included, why) => {
    const told = expect.stringContaining(`${inDir()}/part.conf:2: @include ${included} ${why}`);
    expect(await textsIn(put('part.conf', `\n@include "${included}"\n`))).toEqual([told]);
  });
});

it('a configuration in YAML, by its name or by the command line, is named as unread, also in the include directory', async () => {
  const told = (name: string) => `${inDir()}/${name}: posidle reads no YAML`;
  const yaml = put('d/f.yaml', 'config: []\n');
  expect(await textsIn(yaml)).toEqual([told('d/f.yaml')]);
  const file = put('f.conf', tail('/f'));
  const { sources, hidden } = await loadFluentConf(file, { ruby, includeDir: inDir('d') });
  expect(sources).toHaveLength(1);
  expect(hidden).toEqual([told('d/f.yaml')]);
  const byType = await loadFluentConf(file, { ruby, given: { 'config-file-type': 'yaml' } });
  expect(byType.problems).toEqual([told('f.conf')]);
});

describe('a configuration file', () => {
  it('may name a path that is not UTF-8', async () => {
    const file = put('f.conf', '');
    writeFileSync(file, Buffer.from(tail('/b\xff.log'), 'latin1'));
    expect(await paths(file)).toEqual(['/b\udcff.log']);
  });

  it('is joined by what lies in the include directory, where the caller asks for it', async () => {
    put('conf.d/x/b.conf', tail('/b'));
    put('conf.d/a.conf', tail('/a'));
    put('conf.d/c.txt', tail('/c'));
    const file = put('f.conf', tail('/f'));
    expect(await paths(file, inDir('conf.d'))).toEqual(['/f', '/a', '/b']);
    expect(await paths(file)).toEqual(['/f']);
    const off = put('g.conf', `<system>\nconfig_include_dir ""\n</system>\n${tail('/g')}`);
    expect(await paths(off, inDir('conf.d'))).toEqual(['/g']);
    put('conf.d/s.conf', '<system>\n  root_dir /r\n</system>\n');
    const { backupGlobs } = await loadFluentConf(file, { ruby, includeDir: inDir('conf.d') });
    expect(backupGlobs[0]).toMatch(/^\/tmp\/fluent\//);
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

  it('finds the include directory also below another root', async () => {
    put('conf.d/a.conf', tail('/a'));
    put('f.conf', tail('/f'));
    const options = { ruby, includeDir: '/conf.d', placeOf: placesBelow(inDir()) };
    const { sources } = await loadFluentConf('/f.conf', options);
    expect(sources.flatMap((source) => source.paths)).toEqual(['/f', '/a']);
  });

  it('reports an include directory that cannot be listed', async () => {
    const includeDir = inDir('x'.repeat(300));
    const { sources, hidden } = await loadFluentConf(put('f.conf', tail('/f')), { ruby, includeDir });
    expect(sources).toHaveLength(1);
    expect(hidden).toEqual([`${includeDir}: cannot be listed (name too long)`]);
  });
});

describe('a configuration without an end', () => {
  const TOO_MANY = expect.stringMatching(/: more than 2000 files are included: posidle reads no further$/);

  it('is not read: a FIFO that is included', async () => {
    execFileSync('mkfifo', [inDir('x.conf')]);
    const told = expect.stringContaining('it cannot be read (it is a pipe, not a regular file');
    expect(await textsIn(put('f.conf', '@include x.conf\n'))).toEqual([told]);
  });

  it('whose files include one another ends at 2000 files', async () => {
    for (let n = 0; n < 12; n += 1) put(`d/${n}.conf`, '@include *.conf\n');
    const problems = await textsIn(put('f.conf', '@include d/*.conf\n'));
    expect(problems.filter((text) => !/includes itself$/.test(text))).toEqual([TOO_MANY]);
  });

  it('with ever more includes ends, too', async () => {
    expect(await textsIn(put('f.conf', '@include none\n'.repeat(3_000)))).toEqual([TOO_MANY]);
  });
});

import { describe, expect, it } from 'vitest';
import { buffer, match, read, section } from './conf-text.ts';

const buffers = (text: string) => read(text).buffers;

describe('a buffer', () => {
  it('is in memory by default', () => {
    const inMemory = { name: 'forward of <match app>', type: 'memory', chunkGlobs: [] };
    expect(buffers(match('@type forward'))).toEqual([inMemory]);
  });

  it('is a file in out_file', () => {
    const file = { type: 'file', chunkGlobs: ['/buf/buffer.*.log', '/buf.*.log'] };
    expect(buffers(match(`@type file\npath /out\n${buffer('path /buf')}`))).toMatchObject([file]);
  });

  it('has its chunks where its path says so literally', () => {
    const file = `@type file\npath /out/\${tag}/[a]?.log\n${section('buffer tag', '')}`;
    const path = String.raw`/out/$\{tag\}/\[a\]\?.log`;
    expect(buffers(match(file))[0]?.chunkGlobs).toEqual([`${path}/buffer.*.log`, `${path}.*.log`]);
  });

  it.each(['stdout', 'null', 'relabel', 'copy', 'rewrite_tag_filter'])('is not there in %s', (type) => {
    expect(buffers(match(`@type ${type}`))).toEqual([]);
  });

  it('is there in out_stdout and out_null if they have a <buffer>', () => {
    for (const type of ['stdout', 'null'])
      expect(buffers(match(`@type ${type}\n${buffer('@type file\npath /b')}`))).toHaveLength(1);
  });

  it('is there for each store, at any depth, and for each label', () => {
    const inner = '<store>\n@type copy\n<store>\n@type http\n</store>\n</store>';
    const text = `${match(`@type copy\n<store>\n@type forward\n@id a\n</store>\n${inner}`)}<label @L>\n<match>\n@type s3\n</match>\n</label>\n`;
    expect(buffers(text).map(({ name }) => name)).toEqual(['a', 'http of <match app>', 's3 of <match **>']);
  });

  it('is named as the file has it, for what its Ruby gives may be a secret', () => {
    const [named] = buffers(match('@type http\n@id "out-#{hostname}"'));
    expect(named).toMatchObject({ name: 'out-#{hostname}' });
    const [unnamed] = buffers('<match "a.#{hostname}">\n@type http\n</match>\n');
    expect(unnamed).toMatchObject({ name: 'http of <match a.#{hostname}>' });
  });

  it('in a <secondary> does not count', () => {
    expect(buffers(match('@type http\n<secondary>\n@type file\npath /x\n</secondary>'))).toHaveLength(1);
  });

  it.each([
    ['@type file\npath /b/*', ['/b/*/buffer.*.log', '/b/*.*.log']],
    ['@type file\npath /b/x.*.log', ['/b/x.*.log']],
    ['@type file\npath /b/x.*', ['/b/x.*.log']],
    ['@type file\npath /b\npath_suffix .buf', ['/b/buffer.*.buf', '/b.*.buf']],
    ['@type file_single\npath /b', ['/b/fsb.*.buf', '/b.*.buf']],
    ['@type file_single\npath /b/x.*.log', ['/b/fsb.*.buf']],
    ['@type file_single\npath /b/x.*', ['/b/x.*.buf']],
    ['@type file', ['/root/worker0/out/buffer/buffer.*.log']],
    ['@type file_single', ['/root/worker0/out/buffer/fsb.*.buf']],
  ])('with %j lies where Fluentd puts it', (params, globs) => {
    const system = section('system', 'root_dir /root/');
    expect(buffers(system + match(`@type http\n@id out\n${buffer(params)}`))[0]?.chunkGlobs).toEqual(globs);
  });

  it('is also read in the old style', () => {
    const text = 'type forward\nbuffer_type file\nbuffer_path /b/x.*.buffer';
    expect(buffers(match(text))).toMatchObject([{ type: 'file', chunkGlobs: ['/b/x.*.buffer'] }]);
  });
});

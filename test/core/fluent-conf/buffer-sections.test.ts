import { describe, expect, it } from 'vitest';
import { buffer, match, read, section } from './conf-text.ts';

const buffers = (text: string) => read(text).buffers;

describe('a buffer', () => {
  it.each(['stdout', 'null', 'relabel', 'copy', 'rewrite_tag_filter'])('is not there in %s', (type) => {
    expect(buffers(match(`@type ${type}`))).toEqual([]);
  });

  it('is in files by its type, or because it has a path', () => {
    const globs = (params: string) => buffers(match(`@type http\n${buffer(params)}`))[0]?.chunkGlobs;
    expect(globs('path /buf')).toEqual(['/buf/buffer.*.log', '/buf.*.log']);
    for (const params of ['', '@type memory', '@type file', '@type other\npath /buf'])
      expect(globs(params)).toEqual([]);
  });

  it('has its chunks where its path says so literally', () => {
    const file = `@type http\n${section('buffer tag', `path /out/\${tag}/[a]?.log`)}`;
    const path = String.raw`/out/$\{tag\}/\[a\]\?.log`;
    expect(buffers(match(file))[0]?.chunkGlobs).toEqual([`${path}/buffer.*.log`, `${path}.*.log`]);
  });

  it('is found in each output, at any depth, and in each label', () => {
    const own = buffer('@type file');
    const inner = `<store>\n@type copy\n<store>\n@type http\n${own}</store>\n</store>`;
    const outer = match(`@type copy\n<store>\n@type forward\n@id a\n${own}</store>\n${inner}`);
    const text = `${outer}<label @L>\n<match>\n@type s3\n${own}</match>\n</label>\n`;
    expect(buffers(text).map(({ name }) => name)).toEqual(['a', 'http of <match app>', 's3 of <match **>']);
  });

  it('is named as the file has it, for what its Ruby gives may be a secret', () => {
    const named = (text: string) => buffers(text)[0]?.name;
    const own = buffer('@type file');
    expect(named(match(`@type http\n@id "out-#{hostname}"\n${own}`))).toBe('out-#{hostname}');
    const unnamed = `<match "a.#{hostname}">\n@type http\n${own}</match>\n`;
    expect(named(unnamed)).toBe('http of <match a.#{hostname}>');
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
});

import { describe, expect, it } from 'vitest';
import { type FluentConf, fluentConf } from '../../../src/core/fluent-conf/fluent-conf.ts';
import { parseConf } from '../../../src/core/fluent-conf/syntax.ts';

function read(text: string): FluentConf {
  const { root, problems } = parseConf(text, 'f.conf');
  expect(problems).toEqual([]);
  return fluentConf(root, { env: {}, hostname: 'pod-1' });
}

const match = (params: string) => `<match app>\n${params}\n</match>\n`;
const buffers = (text: string) => read(text).buffers;

describe('a buffer', () => {
  it('is in memory by default', () => {
    expect(buffers(match('@type forward'))).toEqual([
      {
        name: 'forward of <match app>',
        type: 'memory',
        chunkGlobs: [],
      },
    ]);
  });

  it('is a file in out_file', () => {
    expect(buffers(match('@type file\npath /out\n<buffer>\npath /buf\n</buffer>'))).toMatchObject([
      { type: 'file', chunkGlobs: ['/buf/buffer.*.log', '/buf.*.log'] },
    ]);
  });

  it('has its chunks where its path says so literally', () => {
    const path = `/out/\${tag}/[a]?.log`;
    const file = `@type file\npath ${path}\n<buffer tag>\n</buffer>`;
    expect(buffers(match(file))).toMatchObject([
      {
        chunkGlobs: [
          String.raw`/out/$\{tag\}/\[a\]\?.log/buffer.*.log`,
          String.raw`/out/$\{tag\}/\[a\]\?.log.*.log`,
        ],
      },
    ]);
  });

  it.each(['stdout', 'null', 'relabel', 'copy', 'rewrite_tag_filter'])('is not there in %s', (type) => {
    expect(buffers(match(`@type ${type}`))).toEqual([]);
  });

  it('is there in out_stdout and out_null where they are told so', () => {
    expect(buffers(match('@type stdout\n<buffer>\n@type file\npath /b\n</buffer>'))).toHaveLength(1);
    expect(buffers(match('@type null\n<buffer>\n@type file\npath /b\n</buffer>'))).toHaveLength(1);
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

  it('of a <secondary> is none', () => {
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
  ])('with %j lies where Fluentd puts it', (buffer, globs) => {
    const text = `<system>\nroot_dir /root/\n</system>\n${match(`@type http\n@id out\n<buffer>\n${buffer}\n</buffer>`)}`;
    expect(buffers(text)[0]?.chunkGlobs).toEqual(globs);
  });

  it('is also told in the old style', () => {
    const text = 'type forward\nbuffer_type file\nbuffer_path /b/x.*.buffer';
    expect(buffers(match(text))).toMatchObject([
      {
        type: 'file',
        chunkGlobs: ['/b/x.*.buffer'],
      },
    ]);
  });
});

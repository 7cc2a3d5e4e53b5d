import { describe, expect, it } from 'vitest';
import { type FluentConf, fluentConf } from '../../../src/core/fluent-conf/fluent-conf.ts';
import { parseConf } from '../../../src/core/fluent-conf/syntax.ts';

function read(text: string): FluentConf {
  const { root, problems } = parseConf(text, 'f.conf');
  expect(problems).toEqual([]);
  return fluentConf(root, { env: {}, hostname: 'pod-1' });
}

const tail = (params: string) => `<source>\n@type tail\n${params}\n</source>\n`;
const match = (params: string) => `<match app>\n${params}\n</match>\n`;

describe('a warning', () => {
  const good = 'path /a\npos_file /p\nread_from_head true';

  it('is not given where nothing is lost', () => {
    expect(read(tail(good) + match('@type http')).warnings).toEqual([]);
  });

  it.each([
    [tail('path /a\npos_file /p'), 'f.conf:1: in_tail without read_from_head true skips'],
    [tail('path /a\nread_from_head true'), 'f.conf:1: in_tail without pos_file leaves no trace'],
    [tail(`${good}\n<group>\n</group>`), 'f.conf:1: in_tail with <group> reads nothing more'],
  ])('is one sentence with its place: %j', (text, start) => {
    expect(read(text).warnings).toEqual([expect.stringMatching(/^[^.]*\.conf:.*: .*\.$/)]);
    expect(read(text).warnings[0]).toContain(start);
  });
});

import { describe, expect, it } from 'vitest';
import { match, read, tail } from './conf-text.ts';

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

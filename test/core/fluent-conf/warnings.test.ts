import { describe, expect, it } from 'vitest';
import { quietWarnings } from '../../../src/core/fluent-conf/warnings.ts';
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

  it('is given for waits that are shorter than in_tail takes to look', () => {
    const conf = read(tail(good));
    expect(quietWarnings(conf, { quiet: 65_000, grace: 60_000 })).toEqual([]);
    expect(quietWarnings(conf, {})).toEqual([]);
    expect(quietWarnings(conf, { quiet: 30_000, grace: 25_000 })).toEqual([
      "f.conf:1: in_tail looks for new files every 60 s. posidle may stop Fluentd 30 s after main's last line: " +
        'set refresh_interval 5s, or `quiet` 65s.',
      "f.conf:1: in_tail looks for new files every 60 s. posidle may stop Fluentd 25 s after main's last line: " +
        'set refresh_interval 5s, or `grace` 60s with a longer terminationGracePeriodSeconds.',
    ]);
  });

  it.each([
    ['5s', 8_000, 'refresh_interval 3s, or `quiet` 10s'],
    ['1s', 3_000, '`quiet` 6s'],
    ['60s', 5_000, '`quiet` 65s'],
  ])('recommends only what would help: at refresh_interval %s for %i ms', (interval, quiet, remedy) => {
    const conf = read(tail(`${good}\nrefresh_interval ${interval}`));
    expect(quietWarnings(conf, { quiet })).toEqual([expect.stringContaining(`: set ${remedy}.`)]);
  });
});

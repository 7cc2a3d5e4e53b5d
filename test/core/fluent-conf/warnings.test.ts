import { describe, expect, it } from 'vitest';
import { match, read, tail } from './conf-text.ts';

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

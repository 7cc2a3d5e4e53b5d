import { describe, expect, test } from 'vitest';
import { confFacts, tailFacts } from '../../../src/core/fluent-conf/facts.ts';
import { fluentConf } from '../../../src/core/fluent-conf/fluent-conf.ts';
import { parseConf } from '../../../src/core/fluent-conf/syntax.ts';

function read(text: string) {
  return fluentConf(parseConf(text, 'f.conf').root, { env: {}, hostname: '' });
}

const tail = (params: string) => `<source>\n@type tail\npath /a\n${params}\n</source>\n`;
const concat = (params: string) => `<filter app>\n@type concat\nkey message\n${params}\n</filter>\n`;
const exceptions = (params: string) => `<match raw>\n@type detect_exceptions\n${params}\n</match>\n`;

describe('a record of several lines', () => {
  test.each([
    ['a source with a multiline parser', tail('<parse>\n@type multiline\n</parse>'), undefined],
    ['a source in the old style', tail('format multiline\nmultiline_flush_interval 4s'), 4_000],
    ['detect_exceptions', exceptions(''), undefined],
    ['detect_exceptions with its interval', exceptions('multiline_flush_interval 2'), 2_000],
    ['concat whose timeout has a label', concat('timeout_label @OUT\nflush_interval 5s'), 5_000],
    ['concat that never flushes', concat('timeout_label @OUT\nflush_interval 0'), undefined],
    [
      'detect_exceptions in a copy',
      '<match>\n@type copy\n<store>\n@type detect_exceptions\n</store>\n</match>\n',
      undefined,
    ],
    ['a filter of a label', `<label @A>\n${concat('timeout_label @OUT')}</label>\n`, undefined],
    ['a type in Ruby', `${exceptions('')}<filter>\n@type "#{Dir.pwd}"\n</filter>\n`, undefined],
  ])('is held by %s', (_, text, flushInterval) => {
    expect(read(text)).toMatchObject({
      multiline: [{ flushInterval }],
      problems: [],
      warnings: expect.anything(),
    });
  });

  test.each([
    ['a source that takes lines as they are', tail('format none')],
    ['a source whose pattern has the word', tail('format /multiline/')],
    ['concat that drops it', concat('multiline_start_regexp /^a/')],
  ])('is not held by %s', (_, text) => {
    expect(read(text).multiline).toEqual([]);
  });

  test('is waited for as long as the longest interval says', () => {
    const text = `${tail('format multiline\nmultiline_flush_interval 4s')}${concat('timeout_label @OUT\nflush_interval 5s')}`;
    expect(tailFacts(confFacts(read(text))).multilineFlush).toBe(5_000);
    expect(tailFacts(confFacts(read(tail('')))).multilineFlush).toBe(0);
  });
});

import { describe, expect, it } from 'vitest';
import type { ConfElement, ConfValue } from '../../../src/core/fluent-conf/element.ts';
import { evaluate, type RubyContext } from '../../../src/core/fluent-conf/ruby.ts';
import { parseConf } from '../../../src/core/fluent-conf/syntax.ts';

const context: RubyContext = { env: {}, hostname: 'pod-1', workerId: 3 };

interface Plain {
  name: string;
  arg: ConfValue;
  params: Record<string, ConfValue>;
  sections: Plain[];
}

function plain({ name, arg, items }: ConfElement): Plain {
  const params = items.flatMap((item) => (item.kind === 'param' ? [[item.name, item.value] as const] : []));
  const sections = items.flatMap((item) => (item.kind === 'section' ? [plain(item)] : []));
  return { name, arg, params: Object.fromEntries(params), sections };
}

function parse(text: string): Plain {
  const { root, problems } = parseConf(text, 'f.conf');
  expect(problems).toEqual([]);
  return plain(root);
}

function taken(written: string): unknown {
  return evaluate(parse(`key ${written}\n`).params.key ?? '', context);
}

describe('a configuration', () => {
  it.each([
    ['a#b', 'a#b'],
    ['#only a comment', '#only a comment'],
    ['a>b', 'a>b'],
    ['two  words   ', 'two  words'],
    ["'raw #{x} \\n it\\'s \\\\'", "raw #{x} \\n it's \\"],
    ['"\\t\\"\\n\\#\\$\\\\"', '\t"\n#$\\'],
    ['"one \\\n  two"', 'one   two'],
    ['"one\ntwo"', 'one\ntwo'],
    ['"\r\none\r\ntwo"', '\none\ntwo'],
    ["'one\r\n\\two\rthree'", 'one\n\\two\rthree'],
    ['""', ''],
    ['[1, "a#b", # note\n {"k": []}]', '[1, "a#b", \n {"k": []}]'],
    ['{"a":"]"}', '{"a":"]"}'],
    ['C:\\new', 'C:\\new'],
  ])('has the value that Fluentd takes from %j', (written, value) => {
    expect(taken(written)).toBe(value);
  });

  const ruby = { ruby: '`echo }`' };
  it.each<[string, string, Record<string, ConfValue>]>([
    ['gives a name without a value the empty text', 'flag\nnext 1\nlast', { flag: '', next: '1', last: '' }],
    ['may have braces in what its Ruby runs', 'k "#{`echo }`}/a"\n', { k: [ruby, '/a'] }],
    ['ends a name at a blank, a tab or a line end', '\ufeffa\u00a0b\f 1\n', { '\ufeffa\u00a0b\f': '1' }],
  ])('%s', (_, text, params) => {
    expect(parse(text).params).toEqual(params);
  });

  it('finds what it includes behind comments, but not in a section', () => {
    const { root } = parseConf('@include#c\n\n a.conf # no\rline end\n<b>\n@include\nc 1\n</b>\n', 'f');
    expect(root.items[0]).toMatchObject({ kind: 'include', path: 'a.conf' });
    expect(plain(root).params).toEqual({});
    expect(plain(root).sections[0]?.params).toEqual({ '@include': '', c: '1' });
  });

  it('knows the line of everything in it', () => {
    const { root } = parseConf('\n\n<a>\n  k "x\ny"\n  j 1\n</a>\n', 'f');
    const items = [4, 6].map((line) => ({ place: { line } }));
    expect(root.items[0]).toMatchObject({ place: { line: 3 }, items });
  });
});

it.each([
  ['<a>\nk v\n', '1: <a> has no end tag'],
  ['</a>\n', '1: </a> has no start tag'],
  ['<a>\n<b>\n</a>\n', '3: </a> stands where <b> must end'],
  ['< >\n', '1: a tag has no name'],
  ['<a\nk v\n', '1: a tag does not end with >'],
  ['<a> k\n', '1: something follows a tag on its line'],
  ['k "v\n', '1: a double-quoted string does not end'],
  ["k 'v\n", '1: a single-quoted string does not end'],
  ['k "a" b\n', '1: something follows a value on its line'],
  ['k "\\q"\n', '1: \\q is not an escape that Fluentd knows'],
  ['k [::1]:24444\n', '1: something follows a value on its line'],
  ['k [1,\n', '1: a JSON value does not end'],
  ['k "#{a"\n', '1: embedded Ruby does not end'],
  ['k "#{hostname #}"\n', '1: embedded Ruby has a # outside of quotes'],
  // This one Fluentd takes, and puts `é"}` behind what the Ruby gives.
  ["k \"#{ENV['K'] || 'é'}\"\n", '1: embedded Ruby has a character that is not ASCII'],
  ['\ufeff<a>\n</a>\n', '1: the file begins with a byte order mark'],
])('a configuration that Fluentd would refuse has its first mistake told: %j', (text, problem) => {
  const { problems } = parseConf(text, 'f.conf');
  const told = `${problem}; posidle reads no further in this file`;
  expect(problems.map(({ place, text }) => `${place.line}: ${text}`)).toEqual([told]);
});

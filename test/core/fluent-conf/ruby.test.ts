import { describe, expect, it } from 'vitest';
import { evaluate, type RubyContext } from '../../../src/core/fluent-conf/ruby.ts';
import { parseConf } from '../../../src/core/fluent-conf/syntax.ts';

const context: RubyContext = { env: { SET: 'set', EMPTY: '' }, hostname: 'pod-1', workerId: 3 };

function taken(written: string): unknown {
  const { root, problems } = parseConf(`key ${written}\n`, 'f.conf');
  expect(problems).toEqual([]);
  const [item] = root.items;
  return evaluate(item?.kind === 'param' ? item.value : '', context);
}

describe('embedded Ruby', () => {
  it.each([
    [`"a#{ENV['SET']}b"`, 'asetb'],
    [`"#{ENV['UNSET'] || 'else'}"`, 'else'],
    [`"#{ENV['UNSET'] || ENV['SET'] || 'x'}"`, 'set'],
    [`"#{ENV['SET'] || use_nil}"`, 'set'],
    ['"#{use_nil}"', null],
    [`"#{ ENV[ 'UNSET' ] || 24220 }"`, '24220'],
    [`"#{ENV.fetch('UNSET', use_nil)}"`, null],
    ['"#{hostname}-#{Socket.gethostname}-#{worker_id}"', 'pod-1-pod-1-3'],
    [`["#{ENV['SET']}.log"]`, '["set.log"]'],
    [`"#{ 'a}b' }"`, 'a}b'],
    ['"#{}"', ''],
    [`"#{ENV['constructor']}"`, ''],
    [`"#{ENV['UNSET'] || File.join("/a", "#{ENV['SET']}-#{1}#", ENV['UNSET'] || 'b')}"`, '/a/set-1#/b'],
    [`"#{File.join('a', use_nil)}"`, null],
  ])('in %s is evaluated', (written, value) => {
    expect(taken(written)).toBe(value);
  });

  it.each([
    'Dir.pwd',
    '`hostname`',
    "ENV['SET'].upcase",
    "ENV.fetch('UNSET')",
    "ENV.fetch('UNSET') { 'block' }",
    "ENV.fetch('SET'",
    "File.join('a', ENV['UNSET'])",
    "File.join('a', 1)",
    "File.join('a', *ENV)",
    'File.join()',
    "File.join('a',)",
    "File.join('a'",
    `ENV.fetch('UNSET', 'a', 'b')`,
    'hostname_of',
    '010',
    '"#{Dir.pwd}"',
    '"#@dir"',
    '"#$dir"',
    String.raw`"a\tb"`,
    "('a')",
    "'a\\'",
    "ENV['SET'] ? 'a' : 'b'",
    'hostname.size',
    '('.repeat(5_000),
  ])('such as %j is never guessed', (ruby) => {
    expect(evaluate(['a', { ruby }], context)).toMatchObject({ reason: expect.any(String) });
  });

  it('does not take a variable for unset where the environment is not the one of Fluentd', () => {
    const foreign = { ...context, foreign: true };
    const value = (ruby: string) => evaluate([{ ruby }], foreign);
    for (const ruby of ["ENV['UNSET']", `"#{ENV['UNSET']}"`, "File.join('a', ENV['UNSET'])"])
      expect(value(ruby)).toMatchObject({ reason: expect.stringMatching(/UNSET is not set/) });
    expect(["ENV['UNSET'] || 'd'", "ENV['SET']"].map(value)).toEqual(['d', 'set']);
  });
});

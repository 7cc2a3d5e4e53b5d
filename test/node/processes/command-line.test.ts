import { describe, expect, test } from 'vitest';
import { fluentdArguments } from '../../../src/node/processes/command-line.ts';

const argumentsOf = (command: string) => fluentdArguments(command.split(' '));

test.each([
  ['fluentd -c a.conf', 'a.conf'],
  ['/usr/local/bin/fluentd -v --config b.conf', 'b.conf'],
  ['fluentd --config=c.conf', 'c.conf'],
  ['fluentd -cd.conf', 'd.conf'],
  ['fluentd -vqcd.conf', 'd.conf'],
  ['tini -- /bin/entrypoint.sh fluentd -c e.conf', 'e.conf'],
  ['bundle exec fluentd -c f.conf', 'f.conf'],
  ['/usr/bin/ruby /usr/local/bin/fluentd -c g.conf', 'g.conf'],
  ['fluentd -c h.conf -c i.conf', 'i.conf'],
  ['fluentd -p -c -c j.conf', 'j.conf'],
  ['fluentd --config', undefined],
  ['fluentd -- -c k.conf', undefined],
  ['sh -c fluentd', undefined],
  ['fluentd', undefined],
  ['my-wrapper -c not-fluentds.conf', undefined],
])('the configuration that `%s` names is %s', (command, conf) => {
  expect(argumentsOf(command).configFile).toBe(conf);
});

test('the -c of a shell that starts fluentd is not taken for it', () => {
  const command = ['sh', '-c', 'exec "$0" "$@"', 'fluentd', '-c', 'g.conf'];
  expect(fluentdArguments(command).configFile).toBe('g.conf');
});

describe('of the text that is appended', () => {
  const text = '<source>\n@type tail -c\n</source>';
  test.each([
    [['-i', text], text],
    [[`-i${text}`], text],
    [['--inline-config', text], text],
    [[`--inline-config=${text}`], text],
    [['-i', 'first', `-vi${text}`], text],
    [['-i', text, '--inline-config='], ''],
  ])('the last one counts: %j', (words, expected) => {
    expect(fluentdArguments(['fluentd', ...words]).inlineConfig).toBe(expected);
  });
});

test.each([
  ['--workers 2', { workers: 2 }],
  ['--workers=3x', { workers: 3 }],
  ['--config-file-type yaml', { configFileType: 'yaml' }],
  ['-d /run/f.pid', { daemon: '/run/f.pid' }],
  ['-d/run/f.pid', { daemon: '/run/f.pid' }],
  ['-vd /run/f.pid', { daemon: '/run/f.pid' }],
  ['--daemon=/run/f.pid', { daemon: '/run/f.pid' }],
  ['-Ilib -rdate -d x', { daemon: 'x' }],
  ['--suppress-repeated-stacktrace false -d x', { daemon: 'x' }],
  ['--no-such-option --dry-run', {}],
])('`fluentd %s` is understood', (words, expected) => {
  const nothing = fluentdArguments(['fluentd']);
  expect(argumentsOf(`fluentd ${words}`)).toEqual({ ...nothing, ...expected });
});

import { expect, test } from 'vitest';
import { fluentdArguments } from '../../../src/node/processes/command-line.ts';

const argumentsOf = (command: string) => fluentdArguments(command.split(' '));

test.each([
  ['fluentd -c a.conf', 'a.conf'],
  ['tini -- /bin/entrypoint.sh fluentd -c e.conf', 'e.conf'],
  ['bundle exec fluentd -c f.conf', 'f.conf'],
  ['/usr/bin/ruby /usr/local/bin/fluentd -c g.conf', 'g.conf'],
  ['fluentd --config', undefined],
  ['fluentd -- -c k.conf', undefined],
  ['sh -c fluentd', undefined],
  ['fluentd', undefined],
  ['my-wrapper -c not-fluentds.conf', undefined],
])('the configuration that `%s` names is %s', (command, conf) => {
  expect(argumentsOf(command).config).toBe(conf);
});

test('the -c of a shell that starts fluentd is not taken for it', () => {
  const command = ['sh', '-c', 'exec "$0" "$@"', 'fluentd', '-c', 'g.conf'];
  expect(fluentdArguments(command).config).toBe('g.conf');
});

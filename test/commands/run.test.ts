import { expect, test } from 'vitest';
import { confOf } from '../../src/commands/run.ts';

test.each([
  ['fluentd -c a.conf', 'a.conf'],
  ['/usr/local/bin/fluentd -v --config b.conf', 'b.conf'],
  ['fluentd --config=c.conf', 'c.conf'],
  ['fluentd -cd.conf', 'd.conf'],
  ['tini -- /bin/entrypoint.sh fluentd -c e.conf', 'e.conf'],
  ['bundle exec fluentd -c f.conf', 'f.conf'],
  ['sh -c fluentd', undefined],
  ['fluentd', undefined],
  ['my-wrapper -c not-fluentds.conf', undefined],
])('the configuration that `%s` names is %s', (command, conf) => {
  expect(confOf(command.split(' '))).toBe(conf);
});

test('the -c of a shell that starts fluentd is not taken for it', () => {
  expect(confOf(['sh', '-c', 'exec "$0" "$@"', 'fluentd', '-c', 'g.conf'])).toBe('g.conf');
});

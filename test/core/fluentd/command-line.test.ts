import { expect, test } from 'vitest';
import { confNamedBy, daemonOption } from '../../../src/core/fluentd/command-line.ts';

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
  expect(confNamedBy(command.split(' '))).toBe(conf);
});

test('the -c of a shell that starts fluentd is not taken for it', () => {
  expect(confNamedBy(['sh', '-c', 'exec "$0" "$@"', 'fluentd', '-c', 'g.conf'])).toBe('g.conf');
});

test.each([
  ['fluentd -d /run/f.pid -c f.conf', '-d'],
  ['fluentd -d/run/f.pid', '-d'],
  ['fluentd -vd /run/f.pid', '-d'],
  ['td-agent --daemon /run/f.pid', '--daemon'],
  ['tini -- /usr/bin/fluentd -c f.conf --daemon=/run/f.pid', '--daemon'],
  ['fluentd -c f.conf', undefined],
  ['fluentd --dry-run', undefined],
  ['setpriv -d fluentd -c f.conf', undefined],
  ['collector -d', undefined],
])('the option that sends the fluentd of `%s` into the background is %s', (command, option) => {
  expect(daemonOption(command.split(' '))).toBe(option);
});

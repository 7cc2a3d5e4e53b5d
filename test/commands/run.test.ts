import { expect, test } from 'vitest';
import { confOf, refuseDaemon } from '../../src/commands/run.ts';

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

test.each([
  'fluentd -d /run/f.pid -c f.conf',
  'fluentd -d/run/f.pid',
  'fluentd -vd /run/f.pid',
  'td-agent --daemon /run/f.pid',
  'tini -- /usr/bin/fluentd -c f.conf --daemon=/run/f.pid',
])('`%s` would leave posidle: it is refused, with the remedy', (command) => {
  expect(() => refuseDaemon(command.split(' '))).toThrow(/(-d|--daemon): .*leave it out/);
});

test.each(['fluentd -c f.conf', 'fluentd --dry-run', 'setpriv -d fluentd -c f.conf', 'collector -d'])(
  '`%s` stays in the foreground',
  (command) => {
    expect(() => refuseDaemon(command.split(' '))).not.toThrow();
  },
);

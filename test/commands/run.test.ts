import { expect, test } from 'vitest';
import { refuseDaemon } from '../../src/commands/run.ts';

test.each([
  'fluentd -d /run/f.pid -c f.conf',
  'fluentd -d/run/f.pid',
  'fluentd -vd /run/f.pid',
  'td-agent --daemon /run/f.pid',
  'tini -- /usr/bin/fluentd -c f.conf --daemon=/run/f.pid',
])('`%s` would leave posidle: it is refused, with the remedy', (command) => {
  expect(() => refuseDaemon(command.split(' '))).toThrow(/^--daemon: .*leave it out/);
});

test.each(['fluentd -c f.conf', 'fluentd --dry-run', 'setpriv -d fluentd -c f.conf', 'collector -d'])(
  '`%s` stays in the foreground',
  (command) => {
    expect(() => refuseDaemon(command.split(' '))).not.toThrow();
  },
);

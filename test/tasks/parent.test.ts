import { existsSync } from 'node:fs';
import { expect, test } from 'vitest';
import { NodeHost } from '../../src/node/node-host.ts';
import { Parent } from '../../src/tasks/parent.ts';
import { CommandError } from '../../src/tasks/usage-error.ts';
import { tempDir } from '../support/temp-dir.ts';
import { until } from '../support/until.ts';

const inDir = tempDir();

test('a stop timeout longer than a timer can run does not end the wait at once', async () => {
  const parent = new Parent(new NodeHost(), ['sleep', '0.3']);
  let isOver = false;
  await parent.start();
  void parent.exitCode?.then(() => {
    isOver = true;
  });
  await parent.shutDown('SIGINT', 700 * 3_600_000);
  expect(isOver).toBe(true);
});

test.each([
  ['-d', 'fluentd -c f.conf -d /run/f.pid'],
  ['--daemon', 'fluentd --daemon=/run/f.pid'],
])('a command that would leave its parent by %s is refused, with the remedy', (option, command) => {
  expect(() => new Parent(new NodeHost(), command.split(' '))).toThrow(
    new RegExp(`${option}\\b.*: .*leave it out$`),
  );
});

test.each([
  ['is not there', '/not/there', 127],
  ['is no program', '/etc/passwd', 126],
  ['is below a file', '/etc/passwd/x', 126],
])('a command that %s has the exit code of a shell', async (_, command, code) => {
  await expect(new Parent(new NodeHost(), [command]).start()).rejects.toMatchObject({
    code,
    message: expect.stringMatching(new RegExp(`^cannot run ${command}: `)),
  });
});

test('a parent that can look at no process, not even at its start, signals its child before it kills it', async () => {
  const host = new NodeHost();
  const script = 'trap "exit 7" INT; touch begun; while :; do sleep 0.05; done';
  const parent = new Parent(host, ['sh', '-c', `cd ${inDir()}; ${script}`]);
  const refused = async () => {
    await until('the child runs', () => existsSync(inDir('begun')));
    throw new Error('posidle has too many files open');
  };
  Object.assign(host, { listProcesses: refused, signal: refused });
  await expect(parent.start()).rejects.toThrow(new CommandError('posidle has too many files open', 4));
  await parent.shutDown('SIGINT', 60_000);
  expect(await parent.exitCode).toBe(7);
});

test('a parent that can look at no process any more still ends its child', async () => {
  const host = new NodeHost();
  const parent = new Parent(host, ['sleep', '60']);
  await parent.start();
  const refused = async () => Promise.reject(new Error('posidle has too many files open'));
  Object.assign(host, { listProcesses: refused, signal: refused });
  await parent.killRest();
  expect(await parent.exitCode).toBe(128 + 9);
});

import { expect, test } from 'vitest';
import { NodeHost } from '../../src/node/node-host.ts';
import { Parent } from '../../src/tasks/parent.ts';

test('a stop timeout longer than a timer can run does not end the wait at once', async () => {
  const parent = new Parent(new NodeHost(), ['sleep', '0.3']);
  let isOver = false;
  await parent.start();
  void parent.ownCode().then(() => {
    isOver = true;
  });
  await parent.stop('SIGINT', 700 * 3_600_000);
  expect(isOver).toBe(true);
});

import { expect, test } from 'vitest';
import { LookBoard } from '../../src/commands/export.ts';
import { History } from '../../src/core/inspect/history.ts';
import { Inspector } from '../../src/tasks/inspect-look.ts';
import { LOG, POS, posText } from '../support/builders.ts';
import { FakeHost } from '../support/fake-host.ts';
import { inspectedBy } from '../support/inspected-by.ts';

async function board() {
  const host = new FakeHost();
  host.writeFile(LOG, '\n'.repeat(9), '7');
  host.writeFile(POS, posText([{ path: LOG, position: 4, inode: 7 }]));
  const history = new History();
  const found = await new Inspector(host, inspectedBy(host, [POS]), history).look();
  let now = 0;
  const board = new LookBoard(() => now, { interval: 5_000, perFile: 0 });
  const { '/metrics': metrics, '/healthz': health } = board.routes.get;
  const wait = (span: number) => {
    now += span;
  };
  return { board, metrics, health, wait, look: { found, history, took: 3 } };
}

test('the last look answers, and nothing before it or long after it', async () => {
  const { board: it, metrics, health, wait, look } = await board();
  expect(metrics?.()).toMatchObject({ isWell: false, body: 'no look yet\n' });
  it.looked(look);
  expect(metrics?.()).toMatchObject({ isWell: true, body: expect.stringMatching(/^posidle_lag_bytes 5$/m) });
  expect(health?.()).toMatchObject({ isWell: true });
  wait(75_000);
  expect(metrics?.()).toMatchObject({ isWell: false, body: 'the last look is too long ago\n' });
  expect(health?.()).toMatchObject({ isWell: false });
  it.looked(look);
  expect(metrics?.()).toMatchObject({
    isWell: true,
    body: expect.stringMatching(/^posidle_looks_total 2$/m),
  });
});

test('nobody can make it do anything', async () => {
  const { board: it } = await board();
  expect(it.routes.post).toEqual({});
});

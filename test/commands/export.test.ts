import { expect, test } from 'vitest';
import { LookBoard } from '../../src/commands/export.ts';
import { Paces } from '../../src/core/inspect/paces.ts';
import { Looks } from '../support/overviews.ts';

function board() {
  const found = new Looks(new Paces()).look(0, { '/a.log': { size: 9, position: 4 } });
  let now = 0;
  const board = new LookBoard(() => now, { interval: 5_000, perFile: 0 });
  const { '/metrics': metrics, '/healthz': health } = board.routes.get;
  const wait = (span: number) => {
    now += span;
  };
  return { board, metrics, health, wait, look: { found, took: 3 } };
}

test('the last look answers, and nothing before it or long after it', () => {
  const { board: it, metrics, health, wait, look } = board();
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

test('nobody can make it do anything', () => {
  expect(board().board.routes.post).toEqual({});
});

import { expect, test } from 'vitest';
import { Losses } from '../../../src/core/inspect/losses.ts';

const NOTHING = { posFiles: [], undiscovered: [], unlisted: [] };

test('of very many files that went away unread the further ones are told as one sum', () => {
  const losses = new Losses();
  for (let file = 0; file < 30_000; file += 1) {
    losses.tell(String(file), { path: `/${file}.log`, bytes: 7 });
    if (file % 10_000 === 0) losses.look(NOTHING, file);
  }
  const lost = losses.look(NOTHING, 30_000);
  expect(lost.length).toBe(10_001);
  expect(lost.at(-1)).toEqual({ path: '/10000.log', bytes: 140_000, files: 20_000 });
});

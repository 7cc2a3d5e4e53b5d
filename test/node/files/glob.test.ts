import { expect, test } from 'vitest';
import { expandGlob } from '../../../src/node/files/glob.ts';

test('a glob that is longer than any path matches nothing, and stays', async () => {
  const pattern = `/var/log/${'x'.repeat(5_000)}*`;
  expect(await expandGlob(pattern)).toEqual([pattern]);
});

import { expect, test, vi } from 'vitest';
import { writeOwnWitness } from '../../../src/node/witness/write-witness.ts';

const rmSync = vi.hoisted(() => vi.fn());
vi.mock('node:fs', async (load) => ({ ...(await load<typeof import('node:fs')>()), rmSync }));

test('a witness that cannot be removed at the exit keeps nothing else from its end', async () => {
  const atExit = vi.spyOn(process, 'once');
  const dir = await writeOwnWitness();
  const [, remove] = atExit.mock.calls.find(([event]) => event === 'exit') ?? [];
  rmSync.mockImplementation(() => {
    throw new Error('EMFILE: too many open files');
  });
  expect(() => remove?.()).not.toThrow();
  expect(rmSync).toHaveBeenCalledWith(dir, expect.anything());
});

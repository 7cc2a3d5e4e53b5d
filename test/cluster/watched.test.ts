import { expect, test } from 'vitest';
import type { PodEvent } from './kubectl.ts';
import { Watched } from './watched.ts';

async function* events(...phases: readonly string[]) {
  for (const phase of phases)
    yield { type: 'MODIFIED', object: { metadata: { uid: '1' }, status: { phase } } } as PodEvent;
}

test('a state of a Pod that passes with the next event is not missed', async () => {
  const watched = new Watched();
  const failed = watched.until('it fails', ([pod]) => pod?.status.phase === 'Failed');
  await watched.follow(events('Running', 'Failed', 'Running'));
  expect(await failed).toBe(true);
});

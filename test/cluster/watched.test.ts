import { describe, expect, test } from 'vitest';
import type { PodEvent } from './kubectl.ts';
import { Watched } from './watched.ts';

function event(phase: string, type: PodEvent['type'] = 'MODIFIED'): PodEvent {
  return { type, object: { metadata: { name: 'p', uid: '1' }, spec: {}, status: { phase } } } as PodEvent;
}

async function* events(...all: readonly PodEvent[]) {
  yield* all;
}

describe('the Pods of a namespace', () => {
  test('a state that passes with the next event is not missed', async () => {
    const watched = new Watched();
    const failed = watched.until('it fails', ([pod]) => pod?.status.phase === 'Failed');
    await watched.follow(events(event('Running'), event('Failed'), event('Running')));
    expect(await failed).toBe(true);
  });

  test('a wait ends when the events end, and says so', async () => {
    const watched = new Watched();
    const ended = watched.until('it ends', ([pod]) => pod?.isGone);
    const expected = expect(ended).rejects.toThrow('it ends: kubectl no longer watches the Pods');
    await watched.follow(events(event('Running')));
    await expected;
  });

  test('a mistake in the condition is thrown as it is, not as a time that is over', async () => {
    const mistake = () => {
      throw new Error('no Pod p');
    };
    await expect(new Watched().until('it ends', mistake)).rejects.toThrow(/^no Pod p$/);
  });

  test('a Pod that never comes is reported when the time is over', async () => {
    await expect(new Watched().until('it comes', ([pod]) => pod, 10)).rejects.toThrow(
      'not within 10 ms: it comes',
    );
  });
});

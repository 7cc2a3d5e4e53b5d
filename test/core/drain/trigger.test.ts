import { describe, expect, test } from 'vitest';
import type { State } from '../../../src/core/drain/state.ts';
import { step } from '../../../src/core/drain/step.ts';
import { entry, policy, reading, seen, snapshot } from '../../support/builders.ts';

describe('a quiet trigger', () => {
  const triggered = { by: 'quiet', at: 60_000 } as const;
  const draining: State = {
    name: 'draining',
    since: 60_000,
    trigger: triggered,
    completed: false,
    flush: undefined,
    emptyAt: undefined,
    closingAt: undefined,
  };
  const settled = policy({ settle: 120_000 });

  test('is taken back by a movement, whatever date the pos file has', () => {
    const moved = entry({ position: 200 });
    const jumped = snapshot(60_100, [[moved]], { posFiles: [reading([[moved]], 3_600_000)] });
    const observed = seen([snapshot(0, [[entry()]]), snapshot(60_000, [[entry()]]), jumped]);
    expect(step(draining, observed, settled).state.name).toBe('watching');
  });

  test('gives way to a call for the end, which cannot be taken back', () => {
    const requests = [{ by: 'SIGTERM', at: 60_050 }] as const;
    const observed = seen([snapshot(0, [[entry()]]), snapshot(60_100, [[entry()]], { requests })]);
    expect(step(draining, observed, settled).state).toMatchObject({ trigger: { by: 'SIGTERM' } });
  });
});

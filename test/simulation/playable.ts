import type { Deed, Plan, Settings } from './plan.ts';

/** The part of a plan that also runs on a real Fluentd: the deeds of main and the destination, and the trigger. */
export function playable(plan: Plan, version: Settings['version']): Plan {
  const deeds = plan.deeds.flatMap(playableDeed);
  const last = Math.max(UP, ...deeds.map(({ at }) => at));
  const isTriggered = deeds.some((deed) => deed.do === 'trigger');
  const trigger: Deed = { at: last + 1_000, do: 'trigger', by: 'done-file' };
  return {
    ...plan,
    settings: playableSettings(plan.settings, version),
    deeds: [
      { at: 0, do: 'fluentd-starts' },
      ...deeds,
      ...(isTriggered || plan.settings.quiet !== 'off' ? [] : [trigger]),
    ],
    horizon: last + 200_000,
  };
}

/** Fluentd and posidle are both up before main begins. */
export const UP = 3_000;

function playableDeed(deed: Deed): readonly Deed[] {
  const at = deed.at + UP;
  switch (deed.do) {
    case 'write':
    case 'truncate':
    case 'remove':
    case 'rotate':
    case 'remove-rotated':
    case 'destination':
      return [{ ...deed, at }];
    case 'trigger':
      return [{ ...deed, at, by: deed.by === 'SIGTERM' ? 'SIGTERM' : 'done-file' }];
    default:
      return [];
  }
}

/** Short bounds say only how fast the machine is. */
function playableSettings(settings: Settings, version: Settings['version']): Settings {
  return {
    ...settings,
    placement: 'watch',
    version,
    quiet: settings.quiet === 'off' ? 'off' : 8_000,
    doneProcess: false,
    settle: 2_000,
    drainTimeout: 40_000,
    grace: 50_000,
    stopTimeout: 60_000,
    startTimeout: 60_000,
    restartPolicy: 'never',
    readLimit: 0,
    batch: 100,
    batchTakes: 1,
    startTakes: 800,
    chunkLimit: 100_000,
    totalLimit: 100_000,
    overflow: 'throw_exception',
    retryMaxTimes: 0,
    sendTakes: 5,
    lostEvents: 0,
    callTakes: 0,
    oversleeps: 0,
    isDeaf: false,
    reusesPids: false,
  };
}

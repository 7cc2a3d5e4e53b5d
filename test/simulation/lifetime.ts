import type { Outcome } from '../../src/core/drain/outcome.ts';
import type { Policy } from '../../src/core/drain/policy.ts';
import { DEFAULT_POLICY } from '../../src/core/drain/policy.ts';
import type { FluentConf } from '../../src/core/fluent-conf/fluent-conf.ts';
import type { Subject } from '../../src/core/look/subject.ts';
import { watch } from '../../src/daemon/loop.ts';
import { Checks } from './checks.ts';
import type { Coverage } from './coverage.ts';
import { Pauses } from './pauses.ts';
import type { Plan, Settings } from './plan.ts';
import { POS_PATH, SELF, SimulatedHost, Violation } from './simulated-host.ts';
import { World } from './world.ts';

/** How a lifetime went. */
export interface Played {
  readonly outcome: Outcome | undefined;
  /** The promise that was broken. */
  readonly broken: string | undefined;
  readonly timeline: readonly string[];
  /** The final state of the world. */
  readonly world: Pick<World, 'lines' | 'posFile'>;
}

/** Plays a plan: the loop, the looks, the decision and the orders are the real ones. */
export async function play(plan: Plan, isTold = false, coverage?: Coverage): Promise<Played> {
  const world = new World(plan, isTold);
  const policy = policyOf(plan.settings);
  const pauses = new Pauses(world.clock, policy);
  const checks = new Checks(world, plan, { policy, pauses, coverage });
  const host = new SimulatedHost(world, pauses, (...sent) => checks.signalled(...sent));
  world.clock.at(plan.horizon, () => world.request('SIGTERM'));
  world.clock.at(plan.horizon + policy.grace + 30_000, () => {
    throw new Violation('it goes on long after the grace period');
  });
  // A parent has started its child before the first look.
  world.clock.pass(0);
  try {
    const outcome = await watch(host, { subject: subjectOf(world), policy, report: checks });
    checks.ended(outcome);
    return { outcome, broken: undefined, timeline: world.timeline, world };
  } catch (error) {
    const isOurs = error instanceof Violation;
    const broken = isOurs ? error.message : `it threw: ${(error as Error).stack}`;
    return { outcome: undefined, broken, timeline: world.timeline, world };
  }
}

function policyOf(settings: Settings): Policy {
  const { quiet, settle, startTimeout, drainTimeout, grace, stopTimeout, restartPolicy } = settings;
  const { refreshInterval, rotateWait, doneProcess } = settings;
  return {
    ...DEFAULT_POLICY,
    ...{ quiet, settle, startTimeout, drainTimeout, grace, stopTimeout, restartPolicy },
    ...{ doneProcess, doneProcessGone: settle },
    tail: { refreshInterval, rotateWait, multilineFlush: 0 },
    role: settings.placement === 'run' ? 'parent' : 'beside',
  };
}

function subjectOf({ settings, fluentd }: World): Subject {
  return {
    posFiles: [POS_PATH],
    fluentd:
      settings.placement === 'run'
        ? { by: 'session', leader: { pid: fluentd?.pid ?? 0, startTime: String(fluentd?.startedAt) } }
        : { by: 'search' },
    conf: confOf(settings),
    witness: settings.hasWitness ? '/posidle' : undefined,
    doneProcess: settings.doneProcess ? /job/ : undefined,
    self: SELF.pid,
  };
}

function confOf(settings: Settings): FluentConf {
  const { refreshInterval, rotateWait, buffer } = settings;
  const chunkGlobs = buffer === 'file' ? ['/buffer/buffer.*.log'] : [];
  return {
    sources: [
      {
        posFile: POS_PATH,
        paths: ['/logs/*.log'],
        excludePaths: [],
        globPolicy: 'backward_compatible',
        refreshInterval,
        rotateWait,
        multilineFlush: 0,
        followInodes: false,
      },
    ],
    buffers: buffer === 'none' ? [] : [{ name: 'out', chunkGlobs }],
    backupGlobs: ['/root/backup/*'],
    problems: [],
    hidden: [],
    warnings: [],
  };
}

import type { Outcome } from '../../src/core/drain/outcome.ts';
import type { Policy } from '../../src/core/drain/policy.ts';
import type { FluentConf } from '../../src/core/fluent-conf/fluent-conf.ts';
import type { Subject } from '../../src/core/look/subject.ts';
import { runLoop } from '../../src/daemon/loop.ts';
import { confOf, policy, subject } from '../support/builders.ts';
import { Checks } from './checks.ts';
import type { Coverage } from './coverage.ts';
import type { Plan, Settings } from './plan.ts';
import { SimulatedHost, Violation } from './simulated-host.ts';
import { World } from './world.ts';

/** How a lifetime went. */
export interface Played {
  readonly outcome: Outcome | undefined;
  /** The promise that was broken. */
  readonly broken: string | undefined;
  readonly timeline: readonly string[];
  /** The final state of the world. */
  readonly world: Pick<World, 'lines'>;
}

/** Plays a plan: the loop, the looks, the decision and the orders are the real ones. */
export async function play(plan: Plan, isTold = false, coverage?: Coverage): Promise<Played> {
  const world = new World(plan, isTold);
  const rules = policyOf(plan);
  const checks = new Checks(world, plan, rules, coverage);
  const host = new SimulatedHost(world, (...sent) => checks.signalled(...sent));
  world.clock.at(plan.horizon, () => world.request('SIGTERM'));
  world.clock.at(plan.horizon + rules.grace + 30_000, () => {
    throw new Violation('it goes on long after the grace period');
  });
  // A parent has started its child before the first look.
  world.clock.pass(0);
  try {
    const outcome = await runLoop(host, { subject: subjectOf(world), policy: rules, report: checks });
    checks.ended(outcome);
    return { outcome, broken: undefined, timeline: world.timeline, world };
  } catch (error) {
    const isOurs = error instanceof Violation;
    const broken = isOurs ? error.message : `it threw: ${(error as Error).stack}`;
    return { outcome: undefined, broken, timeline: world.timeline, world };
  }
}

function policyOf({ settings, deeds }: Plan): Policy {
  const { quiet, settle, startTimeout, drainTimeout, grace, stopTimeout } = settings;
  const { refreshInterval, rotateWait, doneProcess } = settings;
  return policy({
    ...{ quiet, settle, startTimeout, drainTimeout, grace, stopTimeout },
    ...{ doneProcess, doneProcessGone: settle },
    hasDoneFile: deeds.some((deed) => deed.do === 'trigger' && deed.by === 'done-file'),
    tail: { refreshInterval, rotateWait, multilineFlush: 0 },
    role: settings.placement === 'run' ? 'parent' : 'beside',
  });
}

function subjectOf({ settings, fluentd }: World): Subject {
  const leader = { pid: fluentd?.pid ?? 0, startTime: String(fluentd?.startedAt) };
  return subject({
    fluentd: settings.placement === 'run' ? { by: 'session', leader } : { by: 'search' },
    conf: confBy(settings),
    witness: settings.hasWitness ? '/posidle' : undefined,
    doneProcess: settings.doneProcess ? 'job' : undefined,
  });
}

const CONF = confOf(['/logs/*.log']);

function confBy({ refreshInterval, rotateWait, buffer }: Settings): FluentConf {
  const chunkGlobs = buffer === 'file' ? ['/buffer/buffer.*.log'] : [];
  return {
    ...CONF,
    sources: CONF.sources.map((source) => ({ ...source, refreshInterval, rotateWait })),
    buffers: buffer === 'none' ? [] : [{ name: 'out', chunkGlobs }],
  };
}

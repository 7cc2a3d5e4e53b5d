import { type Checked, check } from '../core/inspect/check.ts';
import { History } from '../core/inspect/history.ts';
import { type Overview, summaryOf, type Verdict } from '../core/inspect/overview.ts';
import { verdictsOf, WINDOW } from '../core/inspect/verdict.ts';
import { formatDuration, type Millis } from '../core/text/units.ts';
import type { NodeHost } from '../node/node-host.ts';
import { Inspector } from './inspect-look.ts';
import type { InspectSubject } from './inspect-subject.ts';

/** Whether Fluentd keeps up, without a number to choose: what is left in the first look is read within a window of looks. */
export async function checkVerdict(
  host: Pick<NodeHost, 'now' | 'sleep'> & ConstructorParameters<typeof Inspector>[0],
  subject: InspectSubject,
  { first, interval }: { readonly first: Overview; readonly interval: Millis },
): Promise<Checked & { readonly found: Overview }> {
  const known = check(first, { lag: undefined, age: undefined });
  if (!known.passed) return { ...known, found: first };
  const { verdict } = verdictsOf(first);
  if (first.caughtUp || verdict.is !== 'ok') return answered(first, verdict);
  const inspector = new Inspector(host, subject, new History());
  const end = host.now() + WINDOW + interval;
  for (;;) {
    const found = await inspector.look();
    const verdict = withUndiscovered(found);
    const hasReadAll = found.late !== null && !hasUndiscovered(found, 0);
    const isHopeless = hasUndiscovered(found, WINDOW);
    if (found.caughtUp || found.verdict?.is !== 'ok' || hasReadAll || isHopeless || host.now() >= end)
      return answered(found, verdict);
    await host.sleep(Math.min(host.now() + interval, end));
  }
}

function answered(found: Overview, { is, why }: Verdict): Checked & { readonly found: Overview } {
  const isOk = is === 'ok';
  return { passed: isOk, reason: isOk ? `${is}: ${summaryOf(found)}` : `${is}: ${why}`, found };
}

/** in_tail looks for them no more often than this. */
function hasUndiscovered({ undiscovered }: Overview, interval: Millis): boolean {
  return undiscovered.some(({ size, refreshInterval }) => size > 0 && refreshInterval >= interval);
}

/** They are no fault until in_tail should have found them, and that a check does not wait for. */
function withUndiscovered({ verdict, undiscovered }: Overview): Verdict {
  const [file] = undiscovered.filter(({ size }) => size > 0);
  if (verdict !== undefined && (verdict.is !== 'ok' || file === undefined)) return verdict;
  const { path = '', refreshInterval = 0 } = file ?? {};
  return {
    is: 'unknown',
    why: `${path} is undiscovered; in_tail looks every ${formatDuration(refreshInterval)}`,
  };
}

import { DRAIN_REQUESTS } from '../progress/drain-request.ts';
import type { ProcessRow } from '../progress/fluentd-reading.ts';
import type { Seen } from '../progress/seen.ts';
import { formatDuration } from '../text/units.ts';
import type { Policy } from './policy.ts';
import type { Trigger } from './state.ts';

export function describeTrigger({ by }: Trigger, seen: Seen, policy: Policy): string {
  switch (by) {
    case 'quiet':
      return `nothing has moved for ${formatDuration(seen.at - (seen.progress.movedAt ?? seen.at))}`;
    case 'start-timeout':
      return `Fluentd has read nothing within --start-timeout (${formatDuration(Number(policy.startTimeout))})`;
    case 'done-process':
      return seen.main.seen
        ? "main's process is gone (--done-process)"
        : `main's process was never seen within --start-timeout (${formatDuration(Number(policy.startTimeout))}): posidle drains as if it had ended`;
    case 'deserted':
      return 'the supervisor ended by itself';
    default:
      return DRAIN_REQUESTS[by].text;
  }
}

/** A Ruby process of Fluentd's container lives. */
export const CANNOT_BE_ASKED =
  'Fluentd runs, but posidle can ask no witness of it: it is starting, or its Ruby has not loaded the witness, or posidle may not open the socket';

export function describeUnproven(pid: number): string {
  return (
    `pid ${pid} may not be the right fluentd: it has no pos file open, or posidle may not see its open files; ` +
    'run posidle as the same user, or load a witness into Fluentd'
  );
}

export function describeCandidates(candidates: readonly ProcessRow[]): string {
  const list = candidates.map(({ pid, argv }) => `pid ${pid} (${argv.join(' ').trim()})`).join(', ');
  return `${candidates.length} independent fluentds run: ${list}; give --pos-file the pos file of one of them, and run posidle as its user`;
}

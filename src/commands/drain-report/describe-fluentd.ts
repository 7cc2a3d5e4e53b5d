import type { Observation } from '../../core/observe/observation.ts';
import { counted } from '../../core/text/units.ts';

/** How Fluentd is, in one sentence. */
export function describeFluentd({ fluentd }: Observation): string {
  switch (fluentd.kind) {
    case 'absent':
      return fluentd.why;
    case 'running': {
      const workers = fluentd.alone ? 'no supervisor' : counted(fluentd.workers.length, 'worker');
      return `fluentd runs: pid ${fluentd.supervisor.pid}, ${workers}`;
    }
    case 'orphaned':
      return `fluentd's supervisor is gone, its workers still run: pid ${fluentd.workers.map(({ pid }) => pid).join(', ')}`;
    case 'wrapper':
      return `no fluentd was found below the command, pid ${fluentd.leader.pid}`;
    case 'remote':
      return fluentd.isDeaf === true
        ? 'posidle cannot reach fluentd, but its pos files are there'
        : 'fluentd runs: its witness answers';
    case 'foreign':
      return `pid ${fluentd.row.pid} isn't a fluentd`;
    case 'ambiguous':
      return `${fluentd.candidates.length} independent fluentds run`;
  }
}

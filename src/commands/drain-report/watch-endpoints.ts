import type { State } from '../../core/drain/state.ts';
import { statusOf } from '../../core/drain/status.ts';
import type { Observation } from '../../core/look/observation.ts';
import { metricsOfWatch, type Usage, type Watched } from '../../core/metrics/metrics.ts';
import { printableJson } from '../../core/text/printable.ts';
import type { Millis } from '../../core/text/units.ts';
import type { Transition } from '../../daemon/loop.ts';
import { type Answer, METRICS_TYPE, type Routes } from '../../node/network/http-server.ts';
import { usageOf } from '../../node/processes/usage.ts';
import { buildInfo } from '../build-info.ts';
import { LastLook, textAnswer } from '../listen.ts';

/** The loop looks at least once a second, so a look that takes this long hangs. */
const STALE: Millis = 15_000;
const JSON_TYPE = 'application/json; charset=utf-8';

export class WatchEndpoints {
  readonly #lastLook: LastLook<Watched>;
  #used: Usage | undefined;
  #why = 'started';

  constructor(now: () => Millis) {
    this.#lastLook = new LastLook(now, STALE);
  }

  transition({ why, state, seen }: Transition): void {
    this.#why = why;
    this.looked(state, seen);
  }

  looked(state: State, seen: Observation): void {
    this.#lastLook.looked({ state, seen }, seen.extent === 'overdue');
  }

  /** `token`: a file with the token, `none` to accept every POST, or undefined to accept no POST. */
  routes(quit: () => void, token: string | undefined): Routes {
    const lastLook = this.#lastLook;
    return {
      get: {
        '/healthz': () => lastLook.health(),
        '/readyz': () => this.#readiness(),
        '/status': () => lastLook.answer(JSON_TYPE, (last) => `${printableJson(this.#statusOf(last))}\n`),
        '/metrics': () => lastLook.answer(METRICS_TYPE, (last) => this.#metricsOf(last)),
      },
      post: token === undefined ? {} : { '/quitquitquit': quit },
      tokenFile: token === 'none' ? undefined : token,
    };
  }

  #readiness(): Answer {
    const seen = this.#lastLook.look?.seen;
    const isUp =
      seen !== undefined && (seen.started || seen.reach !== 'none') && seen.fluentd.kind !== 'absent';
    return textAnswer(isUp, isUp ? 'ok' : 'Fluentd is not up yet');
  }

  #statusOf({ state, seen }: Watched): object {
    const { cpu = null, memory = null } = this.#usageOf(seen) ?? {};
    return { ...statusOf(state, seen, this.#why), cpu, memory };
  }

  #metricsOf(last: Watched): string {
    return metricsOfWatch(last, this.#usageOf(last.seen)) + buildInfo();
  }

  /** Gives the previous measurement and starts the next one, so that no request waits for it. */
  #usageOf({ fluentd }: Observation): Usage | undefined {
    const [worker] = 'workers' in fluentd ? fluentd.workers : [];
    const pid = worker?.pid ?? (fluentd.kind === 'running' ? fluentd.supervisor.pid : undefined);
    if (pid !== undefined) void usageOf(pid).then((usage) => (this.#used = usage));
    return pid === undefined ? undefined : this.#used;
  }
}

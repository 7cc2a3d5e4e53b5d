import type { Policy } from '../../core/drain/policy.ts';
import type { State } from '../../core/drain/state.ts';
import { type Status, statusOf } from '../../core/drain/status.ts';
import { metricsOfWatch, type Watched } from '../../core/metrics/of-watch.ts';
import type { Observation } from '../../core/observe/observation.ts';
import { printableJson } from '../../core/text/printable.ts';
import type { Millis } from '../../core/text/units.ts';
import type { Reporter, Transition } from '../../daemon/loop.ts';
import { type Answer, METRICS_TYPE, type Routes, TEXT_TYPE } from '../../node/network/http-server.ts';
import { type Usage, usageOf } from '../../node/processes/usage.ts';
import { buildInfo } from '../build-info.ts';

/** The loop looks at least once a second; a look that takes so long hangs. */
type Last = Pick<Watched, 'state' | 'seen'>;

const STALE: Millis = 15_000;
const JSON_TYPE = 'application/json; charset=utf-8';

/** Keeps the last look, for whoever asks over HTTP. */
export class StatusBoard implements Reporter {
  readonly #now: () => Millis;
  readonly #policy: Policy;
  #last: Last | undefined;
  #lookedAt = Number.NEGATIVE_INFINITY;
  /** The answers since the last look. */
  readonly #answers = new Map<string, Answer>();
  #used: Usage | undefined;
  #why = 'started';
  #drains = 0;

  constructor(now: () => Millis, policy: Policy) {
    this.#now = now;
    this.#policy = policy;
  }

  transition({ from, to, why, state, seen }: Transition): void {
    this.#why = why;
    this.looked(state, seen);
    if (to === 'draining' && from !== 'draining') this.#drains += 1;
  }

  looked(state: State, seen: Observation): void {
    this.#last = { state, seen };
    this.#answers.clear();
    if (seen.extent !== 'late') this.#lookedAt = seen.at;
  }

  performed(): void {}

  /** `token`: a file, or none; without it there is nothing to POST to. */
  routes(quit: () => void, token: string | undefined): Routes {
    return {
      get: {
        '/healthz': () => this.#health(),
        '/readyz': () => this.#readiness(),
        '/status': () => this.#answer((last) => `${printableJson(this.#statusOf(last))}\n`, JSON_TYPE),
        '/metrics': () =>
          this.#answer(
            (last) => metricsOfWatch({ ...last, policy: this.#policy, drains: this.#drains }) + buildInfo(),
            METRICS_TYPE,
          ),
      },
      post: token === undefined ? {} : { '/quitquitquit': quit },
      tokenFile: token === 'none' ? undefined : token,
    };
  }

  #health(): Answer {
    const isWell = this.#now() - this.#lookedAt < STALE;
    return { body: isWell ? 'ok\n' : 'the last look is too long ago\n', type: TEXT_TYPE, isWell };
  }

  #readiness(): Answer {
    const isWell = this.#last?.seen.started === true && this.#last.seen.fluentd.kind !== 'absent';
    return { body: isWell ? 'ok\n' : 'Fluentd is not up yet\n', type: TEXT_TYPE, isWell };
  }

  #answer(render: (last: Last) => string, type: string): Answer {
    if (this.#last === undefined) return { body: 'no look yet\n', type: TEXT_TYPE, isWell: false };
    const known = this.#answers.get(type);
    if (known !== undefined) return known;
    const answer = { body: render(this.#last), type, isWell: true };
    this.#answers.set(type, answer);
    return answer;
  }

  #statusOf({ state, seen }: Last): object {
    const status = statusOf(state, seen, this.#policy, this.#why);
    return { ...status, ...this.#usageOf(status) };
  }

  /** As of the question before: measuring takes its time, and nobody waits for it. */
  #usageOf({ fluentd }: Status): { cpu: number | null; memory: number | null } {
    const pid = fluentd.workers[0] ?? fluentd.pid;
    if (pid !== null) void usageOf(pid).then((usage) => (this.#used = usage));
    return { cpu: this.#used?.cpu ?? null, memory: this.#used?.memory ?? null };
  }
}

import { LOG } from '../support/builders.ts';
import { FakeHost } from '../support/fake-host.ts';

/** A world with a Fluentd that has read one line at the very start. */
export function busyHost(options: Parameters<FakeHost['startFluentd']>[0] = {}) {
  const host = new FakeHost();
  const fluentd = host.startFluentd(options);
  host.appendLog(LOG, 'first line\n');
  return { host, fluentd };
}

/** When the first stop signal was sent. */
export function stoppedAt({ stops }: FakeHost): number {
  return Number(/@(\d+(?:\.\d+)?)$/.exec(stops[0] ?? '')?.[1]);
}

/** The sent signals, without times: `SIGINT 4242`. */
export function namesOf(sent: readonly string[]): readonly string[] {
  return sent.map((one) => one.replace(/ @.*/, ''));
}

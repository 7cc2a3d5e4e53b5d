import { beforeEach, describe, expect, inject, test } from 'vitest';
import { named, type PodSpec } from '../pods/kubernetes.ts';
import { kubectl } from './kubectl.ts';
import { expectDelivered, LINES, PATIENCE, playPlacement } from './placement.ts';

/** Refreshes its file as long as it lives, and says nothing at its end. */
const WITH_HEARTBEAT = `while touch /var/log/app/.alive; do sleep 0.5; done &
for line in $(seq 20); do echo "line $line of 20" >>/var/log/app/job.log; sleep "$EVERY"; done
`;
/** Ten lines and a failure, then the other ten and the mark. */
const FAILS_ONCE = `log=/var/log/app/job.log
first=1; [ -e $log ] && first=11
for line in $(seq $first $((first + 9))); do echo "line $line of 20" >>$log; sleep "$EVERY"; done
[ $first = 11 ] && touch /var/log/app/.done
`;

/** Ten lines, and ten more a while after SIGTERM. */
const STOPS_SLOWLY = `logs() { for line in $(seq "$1" "$2"); do echo "line $line" >>/var/log/app/job.log; done; }
trap 'sleep 10; logs 11 20; exit 0' TERM; logs 1 10; touch /tmp/written
while :; do sleep 0.2; done
`;
/** Stops Fluentd's processes. */
const HANG =
  "for file in $(grep -l 'bin/fluent[d]' /proc/[0-9]*/cmdline); do kill -STOP $(echo $file | cut -d/ -f3); done";

function soonQuiet(pod: PodSpec): void {
  const fluentd = named(pod, 'fluentd');
  fluentd.env = [...(fluentd.env ?? []), { name: 'POSIDLE_QUIET', value: '5s' }];
}

describe('on a real cluster', { concurrent: true }, () => {
  beforeEach(({ skip }) => skip(inject('noCluster') !== '', inject('noCluster')));

  test('marker: the file that main makes begins the drain', async () => {
    expectDelivered(await playPlacement('marker'), 'done-file');
  });

  test('a heartbeat that has stopped begins the drain', async () => {
    const report = await playPlacement('marker', (spec) => {
      named(spec, 'main').args = [WITH_HEARTBEAT];
      named(spec, 'posidle').env = [
        { name: 'POSIDLE_HEARTBEAT_FILE', value: '/var/log/app/.alive' },
        { name: 'POSIDLE_MAIN_GONE', value: '4s' },
      ];
    });
    expectDelivered(report, 'heartbeat');
  });

  test('a main that fails once and is restarted does not end the Pod in between', async () => {
    const report = await playPlacement('marker', (spec) => {
      spec.restartPolicy = 'OnFailure';
      named(spec, 'main').args = [FAILS_ONCE];
    });
    expectDelivered(report, 'done-file');
    expect(report.containers.main?.restarts).toBe(1);
  });

  test("shared-pid: the end of main's process begins the drain, after its second attempt", async () => {
    const report = await playPlacement('shared-pid', (spec) => {
      spec.restartPolicy = 'OnFailure';
      named(spec, 'main').args = [FAILS_ONCE];
      // posidle must see main's process: on a busy machine it starts some seconds later.
      named(spec, 'main').env = [{ name: 'EVERY', value: '0.5' }];
      // A container starts again within a second or two; the kubelet's next back-off would be 10 s.
      named(spec, 'posidle').env?.push({ name: 'POSIDLE_MAIN_GONE', value: '8s' });
    });
    expectDelivered(report, 'done-process');
  });

  test('shared-pid: a Fluentd that hangs is killed', async () => {
    const { containers, tail } = await playPlacement(
      'shared-pid',
      (spec) => {
        const main = named(spec, 'main');
        main.args = [`${main.args?.join('')}until [ -e /var/log/app/.hangs ]; do sleep 0.2; done\n`];
        named(spec, 'posidle').env?.push(
          { name: 'POSIDLE_DRAIN_TIMEOUT', value: '3s' },
          { name: 'POSIDLE_STOP_TIMEOUT', value: '3s' },
        );
      },
      {
        during: async (pod) => {
          await pod.exec(
            'fluentd',
            `until grep -q job.log /var/log/fluentd/app.pos; do sleep 0.2; done; ${HANG}`,
          );
          await pod.exec('main', 'touch /var/log/app/.hangs');
        },
      },
    );
    const { fluentd, posidle } = containers;
    expect(posidle?.message).toMatch(/"end":"killed".*"outcome":"(not-drained|unproven)"/);
    expect(fluentd?.code).toBe(137);
    expect(tail).toBeLessThan(PATIENCE);
  });

  test.each(['background', 'parent', 'init-container'])(
    "%s: posidle drains and stops Fluentd in Fluentd's own container",
    async (placement) => {
      expectDelivered(await playPlacement(placement, soonQuiet), 'quiet', 'fluentd');
    },
  );

  test("init-container: a deleted Pod whose main writes on is not drained in Fluentd's own container", async () => {
    const { containers } = await playPlacement(
      'init-container',
      (spec) => {
        named(spec, 'main').args = [STOPS_SLOWLY];
      },
      {
        during: async (pod) => {
          await pod.exec('main', 'until [ -e /tmp/written ]; do sleep 0.2; done');
          await pod.delete();
        },
      },
    );
    const { outcome, doubts } = JSON.parse(containers.fluentd?.message ?? '');
    expect(outcome).toBe('unproven');
    expect(doubts.worst).toMatchObject([{ kind: 'main-may-run' }]);
  });

  test('post-start: posidle drains and stops Fluentd, and the container ends with Fluentd', async () => {
    const report = await playPlacement('post-start', soonQuiet);
    const log = expect.stringContaining('draining → stopping: everything is read');
    expect(report).toMatchObject({
      phase: 'Succeeded',
      containers: { fluentd: { code: 0, restarts: 0, log } },
    });
    expect(report.lines.size).toBe(LINES);
  });

  test('the DaemonSet of the exporter is what the Kubernetes API takes', async () => {
    await kubectl(['create', '--dry-run=server', '--validate=strict', '-k', 'docker/exporter/daemonset']);
  });
});

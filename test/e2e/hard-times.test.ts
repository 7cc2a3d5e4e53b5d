import { expect } from 'vitest';
import {
  type Delivery,
  DRAINED,
  ONE_VERSION,
  onFluentd,
  startBeside,
  test,
  watchDelivery,
} from '../support/delivery.ts';
import type { Site } from '../support/delivery-site.ts';
import { memoryBuffer, tail, toHttp } from '../support/fluentd-conf.ts';
import type { FluentdRun } from '../support/real-fluentd.ts';

const COUNT = 1_000;
const DELIVERED = { ...DRAINED, delivered: COUNT };
/** The wrapper that changes the mounts of what it runs, and of nobody else. */
const inMounts = (script: string) => ['unshare', '--mount', 'sh', '-c', `${script}; exec "$@"`, 'sh'];
const HIDDEN = 'mount -t proc -o hidepid=2,gid=1 proc /proc; set -- setpriv --bounding-set -sys_ptrace "$@"';
const readOnly = (dir: string) =>
  `mount --bind ${dir} ${dir}; mount -o remount,bind,ro ${dir}; mount -o remount,bind,ro /`;
/** Only a Fluentd that hangs for ever reaches these, even on a busy machine. */
const PATIENT = ['--drain-timeout', '120s', '--stop-timeout', '120s'];

onFluentd(ONE_VERSION, (version) => {
  const conf = (site: Site) => [
    tail(site.log('*.log'), site.pos, { refresh_interval: '1s' }),
    toHttp(site.sink.port, memoryBuffer({ flush_interval: '1s' })),
  ];
  /** posidle beside a Fluentd to which something happens. */
  const deliver = async (site: Site, happens: (fluentd: FluentdRun) => Partial<Delivery>) => {
    const delivery = { version, conf: conf(site), main: () => site.write('app.log', COUNT) };
    const fluentd = startBeside(site, delivery);
    await fluentd.ready;
    const { args = PATIENT, ...more } = happens(fluentd);
    return await watchDelivery(site, { ...delivery, args, ...more }, fluentd);
  };

  test('a Fluentd that stays stopped is killed at the stop timeout, and its unread bytes are reported', async ({
    site,
  }) => {
    const ended = await deliver(site, ({ pid }) => ({
      args: ['--drain-timeout', '5s', '--stop-timeout', '2s'],
      main: async () => {
        process.kill(-pid, 'SIGSTOP');
        await site.write('app.log', COUNT);
      },
    }));
    expect(ended).toMatchObject({ code: 3, outcome: { end: 'killed' } });
    expect(JSON.stringify(ended.outcome)).toContain(site.log('app.log'));
    expect(ended.log).toContainEqual(saying(/Fluentd still runs .* after the stop signal/));
    expect(ended.log).toContainEqual(saying(/its witness did not answer .* Is Fluentd stopped/));
  });

  test('where /proc shows no process of others (hidepid), the witness is enough', async ({ site }) => {
    const ended = await deliver(site, () => ({ args: PATIENT, wrapper: inMounts(HIDDEN) }));
    expect(ended).toMatchObject(DELIVERED);
    expect(ended.log).toContainEqual(saying(/^told worker .* to stop/));
  });

  test('where posidle can write nowhere, only its termination message is missing', async ({ site }) => {
    const ended = await deliver(site, () => ({ wrapper: inMounts(readOnly(site.dir)) }));
    expect(ended).toMatchObject({ ...DELIVERED, outcome: null });
    expect(ended.log).toContainEqual(saying(/drained: /));
    expect(ended.log).toContainEqual(
      saying(/^the termination message cannot be written: the file system is read-only/),
    );
  });
});

function saying(what: RegExp) {
  return expect.objectContaining({ msg: expect.stringMatching(what) });
}

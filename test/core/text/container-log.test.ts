import { expect, test } from 'vitest';
import { containerLogOf, podNameOf } from '../../../src/core/text/container-log.ts';
import { cpuSeconds } from '../../support/cpu-seconds.ts';

const ID = '0123456789abcdef'.repeat(4);

test.each([
  [`/var/log/containers/my-app-7d9f8-abcde_default_app-${ID}.log`, 'default/my-app-7d9f8-abcde/app 0123456'],
  [`/var/log/containers/web.0_kube-system_side-car-${ID}.log`, 'kube-system/web.0/side-car 0123456'],
  ['/var/log/pods/default_my-app-0_1234-56/app/0.log', 'default/my-app-0/app 0.log'],
  ['/var/log/pods/default_my-app-0_1234-56/app/0.log.20261122', 'default/my-app-0/app 0.log.20261122'],
])('%s belongs to %s', (path, name) => {
  expect(podNameOf(path)).toBe(name);
  const { namespace, pod, container } = containerLogOf(path) ?? {};
  expect(name.startsWith(`${namespace}/${pod}/${container} `)).toBe(true);
});

test.each([
  '/var/log/app.log',
  '/var/log/containers/app.log',
  '/var/log/containers/a_b_c.log',
  '/var/log/pods/default_my-app/app/0.log',
  `/var/log/containers/a_b_c_d-${ID}.log`,
  `/var/log/containers/a\u200b_b_c-${ID}.log`,
  `/var/log/app/containers/a_b_c-${ID}.log`,
  `/data/var/log/containers/a_b_c-${ID}.log`,
  '/var/log/app/pods/default_my-app-0_1234-56/app/0.log',
  '/var/log/pods/default_my\u200bapp_1234-56/app/0.log',
])('%s is nobody’s', (path) => {
  expect([containerLogOf(path), podNameOf(path)]).toEqual([undefined, undefined]);
});

test('a long text of slashes takes no time', async () => {
  expect(await cpuSeconds(() => podNameOf(`/var/log/pods/${'_/'.repeat(5_000)}`))).toBeLessThan(1);
});

import { expect, test } from 'vitest';
import { findConf } from '../../src/tasks/find-conf.ts';
import { FakeHost } from '../support/fake-host.ts';

test('a variable that is empty names no configuration, as if it were not set', async () => {
  const find = (env: NodeJS.ProcessEnv) => findConf(new FakeHost(), { fluentConf: undefined }, env);
  const empty = { FLUENT_CONF: '', FLUENTD_CONF: '' };
  expect(await find(empty)).toEqual(await find({}));
  await expect(find({ FLUENT_CONF: '/not/there.conf' })).rejects.toThrow(
    /^FLUENT_CONF: \/not\/there\.conf: there is no such file/,
  );
});

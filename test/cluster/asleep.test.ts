import { beforeEach, describe, inject, test } from 'vitest';
import { minorVersion } from './policy.ts';
import { playRow } from './row.ts';
import { ROWS } from './rows.ts';

describe('posidle asleep behind Fluentd', { concurrent: true }, () => {
  beforeEach(({ skip }) => skip(inject('noCluster') !== '', inject('noCluster')));

  test.for(ROWS)('$title', async (row, { skip }) => {
    const { since = 0 } = row;
    skip(since > (await minorVersion()), `it needs Kubernetes 1.${since}`);
    await playRow(row);
  });
});

import { beforeEach, describe, inject, test } from 'vitest';
import { playRow } from './row.ts';
import { ROWS } from './rows.ts';

describe('posidle asleep behind Fluentd', { concurrent: true }, () => {
  beforeEach(({ skip }) => skip(inject('noCluster') !== '', inject('noCluster')));

  test.each(ROWS)('$title', (row) => playRow(row));
});

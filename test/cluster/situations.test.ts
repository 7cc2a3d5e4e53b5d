import { beforeEach, describe, inject, test } from 'vitest';
import { storyOf } from '../situations/in-pod.ts';
import { SITUATIONS } from '../situations/table.ts';
import { playRow } from './row.ts';

const PLAYABLE = SITUATIONS.flatMap((situation) => {
  const row = storyOf(situation);
  return row === undefined ? [] : [{ name: situation.name, row }];
});

describe('a situation of the track record, in a Pod', { concurrent: true }, () => {
  beforeEach(({ skip }) => skip(inject('noCluster') !== '', inject('noCluster')));

  test.for(PLAYABLE)('$name', ({ row }) => playRow(row));
});

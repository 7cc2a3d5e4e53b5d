import { bench, describe } from 'vitest';
import { parsePosFile } from '../src/core/pos-file/pos-file.ts';
import { posText } from './support/builders.ts';

const paths = (count: number, name: string) =>
  Array.from({ length: count }, (_, index) => ({
    path: `/var/log/containers/${name}-${index}_default_main.log`,
    position: index * 4_096,
    inode: 2_000_000 + index,
  }));

describe('the parser', () => {
  for (const count of [1, 1_000, 100_000]) {
    const file = Buffer.from(posText(paths(count, 'pod')));
    bench(`${count} entries`, () => void parsePosFile(file));
  }

  const foreign = Buffer.from(posText(paths(10_000, 'caf\xe9')), 'latin1');
  bench('10000 entries whose paths are no UTF-8', () => void parsePosFile(foreign));
});

import { expect, test } from 'vitest';
import type { FluentdReading } from '../../src/core/fluentd/processes.ts';
import { openedOf } from '../../src/daemon/look-at-gone.ts';
import { LOG, POS, running } from '../support/builders.ts';

/** A file of 9 bytes that was to be found, and is nowhere now; `held`: what Fluentd has open with its inode. */
function openedWith(
  born: number | undefined,
  held: { readonly born?: number } | null,
  fluentd: FluentdReading = running(),
): readonly string[] | undefined {
  const awaited = new Map([['7', { posFile: POS, path: LOG, size: 9, born, before: undefined, since: 0 }]]);
  const open = () => held && { path: '/proc/9/fd/5', stat: { inode: '7', size: 9, ...held } };
  const opened = openedOf(open, { awaited, followed: [], fluentd });
  return opened && [...opened];
}

test.each([
  ['is the file that was to be found, where it was made when that was', 5, { born: 5 }, ['7']],
  [
    'is that file, as far as anybody knows, where nobody tells when they were made',
    undefined,
    { born: 5 },
    ['7'],
  ],
  ['is another one, a chunk of a buffer, where it was made later', 5, { born: 5_000 }, []],
  ['is none where Fluentd has none open', 5, null, []],
])('what Fluentd has open with an inode %s', (_, born, held, opened) => {
  expect(openedWith(born, held)).toEqual(opened);
});

test('what a Fluentd in another container has open is not known', () => {
  expect(openedWith(5, null, { kind: 'remote' } as FluentdReading)).toBeUndefined();
});

import { expect, test } from 'vitest';
import { didYouMean } from '../../../src/core/text/did-you-mean.ts';

const WORDS = ['quiet', 'quit', 'settle', 'done-file', 'json'];

test.each([
  ['setle', 'settle', 'a letter left out'],
  ['settlle', 'settle', 'a letter too many'],
  ['sattle', 'settle', 'a wrong letter'],
  ['jsno', 'json', 'two letters swapped'],
  ['done_flie', 'done-file', 'two mistakes in a long word'],
  ['quitt', 'quit', 'the nearest of two'],
])('%s means %s: %s', (misspelt, meant) => {
  expect(didYouMean(misspelt, WORDS.toReversed())).toBe(`Did you mean ${meant}?`);
});

test.each(['x', 'tail', 'watch', ''])('nothing is near %o', (misspelt) => {
  expect(didYouMean(misspelt, WORDS)).toBeUndefined();
});

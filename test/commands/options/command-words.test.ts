import { expect, test } from 'vitest';
import { asOptions, completionIn } from '../../../src/commands/options/command-words.ts';

test.each([
  ['version', '--version'],
  ['help', '--help'],
  ['help watch', 'watch --help'],
  ['help wach', 'wach'],
  ['watch --help-all', '--help watch --help-all'],
  ['run -- fluentd --help-all', 'run -- fluentd --help-all'],
  ['completion zsh', 'completion'],
  ['completion --help', 'completion --help'],
  ['watch -p a.pos', 'watch -p a.pos'],
])('posidle %s means posidle %s', (words, meant) => {
  expect(asOptions(words.split(' '))).toEqual(meant.split(' '));
});

test('only a shell that is known gets a script', () => {
  expect(completionIn(['completion', 'fish'])).toMatch(/^complete -c posidle /);
  expect(() => completionIn(['completion', 'zhs'])).toThrow(
    "completion: 'zhs' isn't one of bash, zsh, fish. Did you mean zsh?",
  );
  expect(completionIn(['watch', 'fish'])).toBeUndefined();
});

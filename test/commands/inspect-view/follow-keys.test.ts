import { expect, test } from 'vitest';
import { afterKey, isQuit, NO_WISHES, type Wishes } from '../../../src/commands/inspect-view/follow-keys.ts';

const after = (wishes: Wishes, ...keys: readonly string[]) =>
  keys.reduce((before, key) => afterKey(before, key, 10), wishes);

test('a filter takes every character, also those that are keys elsewhere, until enter or escape', () => {
  const typed = after(NO_WISHES, '/', ...'qr?', ' ', 'é', '\x7f', '\x1b[A');
  expect(typed).toEqual({ ...NO_WISHES, shows: 'filter', filter: 'qr? ' });
  expect(isQuit('q', typed)).toBe(false);
  expect(isQuit('\x03', typed)).toBe(true);
  expect(after(typed, '\r')).toEqual({ ...NO_WISHES, filter: 'qr? ' });
  expect(after(typed, '\x1b')).toEqual(NO_WISHES);
  expect(after(typed, '\r', '\x1b')).toEqual(NO_WISHES);
});

test.each(['?', '\r'])('after %j any key but q shows the files again', (key) => {
  const shown = after(NO_WISHES, key);
  expect(shown.shows).not.toBe('files');
  expect(after(shown, 's')).toEqual(NO_WISHES);
  expect(isQuit('q', shown)).toBe(true);
});

test('a file is chosen row by row or page by page, and never one above the first', () => {
  expect(after(NO_WISHES, '\x1b[B', 'j', '\x1b[6~').chosen).toBe(12);
  expect(after(NO_WISHES, '\x1b[6~', '\x1b[A', 'k').chosen).toBe(8);
  expect(after(NO_WISHES, 'k', '\x1b[5~')).toEqual(NO_WISHES);
});

test('r, s and space change the order and pause', () => {
  const changed = after(NO_WISHES, 'r', 's', ' ');
  expect(changed).toEqual({ ...NO_WISHES, reversed: true, sort: 'file', paused: true });
  expect(after(changed, 'r', 's', 's', 's', 's', 's', 's', ' ')).toEqual(NO_WISHES);
});

import { expect, test, vi } from 'vitest';
import { pattern } from '../../../src/commands/options/coercions.ts';

// A Node whose V8 no longer has the engine ignores its flag.
vi.mock('node:v8', async (original) => ({ ...(await original<object>()), setFlagsFromString: () => {} }));

test('a Node without linear regular expressions is named, and not the pattern', () => {
  const why = `Node ${process.versions.node} can no longer match in linear time`;
  expect(() => pattern('main')).toThrow(why);
});

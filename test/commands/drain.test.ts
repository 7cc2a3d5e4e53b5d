import { readFileSync } from 'node:fs';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { runDrain } from '../../src/commands/drain.ts';
import { HookHost } from '../../src/tasks/drain.ts';
import { tempDir } from '../support/temp-dir.ts';

const inDir = tempDir();

beforeEach(() => {
  vi.spyOn(HookHost.prototype, 'listProcesses').mockResolvedValue([]);
});

afterEach(() => {
  vi.restoreAllMocks();
});

test('a hook without Fluentd leaves the reason as the termination message', async () => {
  const word = inDir('word');
  const args = { grace: 1_000, 'main-ended': true, strict: false, witness: inDir(), 'termination-log': word };
  const texts = { 'log-level': 'info', 'log-format': 'pretty' } as const;
  const unset = { 'pos-file': undefined, 'fluent-conf': undefined, 'complete-last-line': undefined };
  const drain = runDrain({ ...args, ...texts, ...unset });
  await expect(drain).rejects.toThrow(/^no Fluentd runs in this container/);
  expect(JSON.parse(readFileSync(word, 'utf8'))).toEqual({
    version: 1,
    outcome: 'unproven',
    why: expect.stringMatching(/^no Fluentd runs in this container/),
  });
});

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { runDrain } from '../../src/commands/drain.ts';
import { HookHost } from '../../src/tasks/drain.ts';

let dir: string;

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'posidle-drain-'));
  vi.spyOn(HookHost.prototype, 'listProcesses').mockResolvedValue([]);
});

afterEach(() => {
  vi.restoreAllMocks();
  rmSync(dir, { recursive: true });
});

test('a hook without Fluentd leaves the reason as the termination message', async () => {
  const word = join(dir, 'word');
  const args = { grace: 1_000, 'main-ended': true, strict: false, witness: dir, 'termination-log': word };
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

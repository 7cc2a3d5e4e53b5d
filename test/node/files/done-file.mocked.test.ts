import { mkdirSync, mkdtempSync, renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { DoneFile, podStart } from '../../../src/node/files/done-file.ts';

const { asked } = vi.hoisted(() => ({ asked: { times: 0, tell: () => {} } }));
vi.mock('node:fs', async (original) => {
  const fs = await original<typeof import('node:fs')>();
  const watch = (path: string, tell: () => void) => {
    asked.times += 1;
    asked.tell = tell;
    return fs.watch(path, tell);
  };
  return { ...fs, watch };
});

let dir: string;
let file: DoneFile | undefined;
beforeEach(() => {
  asked.times = 0;
  dir = mkdtempSync(join(tmpdir(), 'posidle-done-'));
});
afterEach(() => {
  file?.close();
  vi.useRealTimers();
  rmSync(dir, { recursive: true });
});

function found(path: string, began?: number): Promise<void> {
  const looking = new DoneFile(path, began);
  file = looking;
  return new Promise((resolve) => looking.watch(resolve));
}

describe('a done file', () => {
  test('that is there at the start is found at once', async () => {
    writeFileSync(join(dir, 'done'), '');
    await found(join(dir, 'done'));
  });

  test('is found by the word of the system: no time has to pass', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout'] });
    const done = found(join(dir, 'done'));
    writeFileSync(join(dir, 'done'), '');
    await done;
  });

  test('that is older than the Pod is found when it is touched', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout'] });
    writeFileSync(join(dir, 'done'), '');
    utimesSync(join(dir, 'done'), 1, 1);
    let isFound = false;
    const done = found(join(dir, 'done'), 1_001).then(() => {
      isFound = true;
    });
    await vi.advanceTimersByTimeAsync(10_000);
    expect([isFound, file?.isOld]).toEqual([false, true]);
    utimesSync(join(dir, 'done'), 2, 2);
    await done;
  });

  test('of this Pod is found though it was there before posidle', async () => {
    writeFileSync(join(dir, 'done'), '');
    utimesSync(join(dir, 'done'), 2, 2);
    await found(join(dir, 'done'), 2_000);
    expect(file?.isOld).toBe(false);
  });

  test('is looked for often after another change, and the system is asked again after a second', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'performance'] });
    const done = found(join(dir, 'done'));
    asked.tell();
    await vi.advanceTimersByTimeAsync(999);
    expect(asked.times).toBe(1);
    await vi.advanceTimersByTimeAsync(200);
    expect(asked.times).toBe(2);
    asked.tell();
    writeFileSync(join(dir, 'done'), '');
    await vi.advanceTimersByTimeAsync(200);
    await done;
  });

  test('is found by looking where its directory comes later', async () => {
    const done = found(join(dir, 'later', 'done'));
    mkdirSync(join(dir, 'later'));
    writeFileSync(join(dir, 'later', 'done'), '');
    await done;
  });

  test('is found where its directory was replaced', async () => {
    mkdirSync(join(dir, 'a'));
    const done = found(join(dir, 'a', 'done'));
    renameSync(join(dir, 'a'), join(dir, 'b'));
    mkdirSync(join(dir, 'a'));
    writeFileSync(join(dir, 'a', 'done'), '');
    await done;
  });
});

test('a Pod began when the runtime wrote its host name, or up to a second earlier', () => {
  const hostname = join(dir, 'hostname');
  writeFileSync(hostname, 'pod\n');
  utimesSync(hostname, 100, 100);
  expect(podStart({ KUBERNETES_SERVICE_HOST: '10.0.0.1' }, hostname)).toBe(99_000);
});

test('outside Kubernetes nobody knows when a Pod began, and every done file counts', () => {
  expect(podStart({})).toBeUndefined();
});

import { mkdirSync, renameSync, utimesSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { DoneFile, podStart } from '../../../src/node/files/done-file.ts';
import { tempDir } from '../../support/temp-dir.ts';

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

const inDir = tempDir();
let file: DoneFile | undefined;
beforeEach(() => {
  asked.times = 0;
});
afterEach(() => {
  file?.close();
  vi.useRealTimers();
});

function found(path: string, began?: number): Promise<void> {
  const looking = new DoneFile(path, began);
  file = looking;
  return new Promise((resolve) => looking.watch(resolve));
}

describe('a done file', () => {
  test('that is there at the start is found at once', async () => {
    writeFileSync(inDir('done'), '');
    await found(inDir('done'));
  });

  test('is found by the word of the system: no time has to pass', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout'] });
    const done = found(inDir('done'));
    writeFileSync(inDir('done'), '');
    await done;
  });

  test('that is older than the Pod is found when it is touched', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout'] });
    writeFileSync(inDir('done'), '');
    utimesSync(inDir('done'), 1, 1);
    let isFound = false;
    const done = found(inDir('done'), 1_001).then(() => {
      isFound = true;
    });
    await vi.advanceTimersByTimeAsync(10_000);
    expect([isFound, file?.isOld]).toEqual([false, true]);
    utimesSync(inDir('done'), 2, 2);
    await done;
  });

  test('of this Pod is found though it was there before posidle', async () => {
    writeFileSync(inDir('done'), '');
    utimesSync(inDir('done'), 2, 2);
    await found(inDir('done'), 2_000);
    expect(file?.isOld).toBe(false);
  });

  test('is looked for often after another change, and the system is asked again', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout'] });
    const done = found(inDir('done'));
    asked.tell();
    expect(asked.times).toBe(1);
    await vi.advanceTimersByTimeAsync(200);
    expect(asked.times).toBe(2);
    asked.tell();
    writeFileSync(inDir('done'), '');
    await vi.advanceTimersByTimeAsync(200);
    await done;
  });

  test('is found by looking where its directory comes later', async () => {
    const done = found(inDir('later', 'done'));
    mkdirSync(inDir('later'));
    writeFileSync(inDir('later', 'done'), '');
    await done;
  });

  test('is found where its directory was replaced', async () => {
    mkdirSync(inDir('a'));
    const done = found(inDir('a', 'done'));
    renameSync(inDir('a'), inDir('b'));
    mkdirSync(inDir('a'));
    writeFileSync(inDir('a', 'done'), '');
    await done;
  });
});

test('a Pod began when the runtime wrote its host name, or up to a second earlier', () => {
  const hostname = inDir('hostname');
  writeFileSync(hostname, 'pod\n');
  utimesSync(hostname, 100, 100);
  expect(podStart({ KUBERNETES_SERVICE_HOST: '10.0.0.1' }, hostname)).toBe(99_000);
});

test('outside Kubernetes nobody knows when a Pod began, and every done file counts', () => {
  expect(podStart({})).toBeUndefined();
});

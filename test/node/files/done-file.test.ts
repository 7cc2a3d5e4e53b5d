import { mkdirSync, renameSync, utimesSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { DoneFile, podStart } from '../../../src/node/files/trigger-files.ts';
import { tempDir } from '../../support/temp-dir.ts';

const inDir = tempDir();
let file: DoneFile | undefined;
const found = vi.fn();

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  file?.close();
  vi.useRealTimers();
  vi.clearAllMocks();
});

const open = (path: string, began?: number) => {
  file = new DoneFile(path, found, began);
};

describe('a done file', () => {
  test('that is there at the start is found at once', () => {
    writeFileSync(inDir('done'), '');
    open(inDir('done'));
    expect(found).toHaveBeenCalledOnce();
  });

  test('that is older than the Pod is found when it is touched', () => {
    writeFileSync(inDir('done'), '');
    utimesSync(inDir('done'), 1, 1);
    open(inDir('done'), 1_001);
    vi.advanceTimersByTime(10_000);
    expect(found).not.toHaveBeenCalled();
    expect(file?.isOld).toBe(true);
    utimesSync(inDir('done'), 2, 2);
    vi.advanceTimersByTime(1_000);
    expect(found).toHaveBeenCalledOnce();
  });

  test('from this Pod is found even if it is older than posidle', () => {
    writeFileSync(inDir('done'), '');
    utimesSync(inDir('done'), 2, 2);
    open(inDir('done'), 2_000);
    expect(found).toHaveBeenCalledOnce();
    expect(file?.isOld).toBe(false);
  });

  test.each([
    ['made', () => writeFileSync(inDir('done'), '')],
    ['moved into place', () => renameSync(inDir('new'), inDir('done'))],
  ])('that is %s is found at once, long before the next look', async (_, make) => {
    vi.useRealTimers();
    vi.spyOn(globalThis, 'setInterval').mockReturnValueOnce({} as NodeJS.Timeout);
    writeFileSync(inDir('new'), '');
    open(inDir('done'));
    make();
    await vi.waitFor(() => expect(found).toHaveBeenCalledOnce(), { interval: 10, timeout: 900 });
  });

  test('is found once, by looking, also where its directory comes later or is replaced', () => {
    open(inDir('a', 'done'));
    mkdirSync(inDir('a'));
    vi.advanceTimersByTime(1_000);
    renameSync(inDir('a'), inDir('b'));
    mkdirSync(inDir('a'));
    expect(found).not.toHaveBeenCalled();
    writeFileSync(inDir('a', 'done'), '');
    vi.advanceTimersByTime(1_000);
    expect(found).toHaveBeenCalledOnce();
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

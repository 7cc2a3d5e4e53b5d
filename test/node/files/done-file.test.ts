import { mkdirSync, renameSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { DoneFile, podStart } from '../../../src/node/files/trigger-files.ts';
import { tempDir } from '../../support/temp-dir.ts';

const inDir = tempDir();
const warn = vi.fn();

beforeEach(() => {
  warn.mockClear();
});

describe('a done file', () => {
  test.each([
    ['outside Kubernetes', undefined],
    ['from this Pod', 2_000],
  ])('%s is found at once, also if it is older than posidle', (_, since) => {
    writeFileSync(inDir('done'), '');
    utimesSync(inDir('done'), 2, 2);
    expect(new DoneFile(inDir('done'), since, warn).look()).toBe(true);
    expect(warn).not.toHaveBeenCalled();
  });

  test('that has still to come is no mistake; a directory that is not there is told', () => {
    new DoneFile(inDir('done'), undefined, warn);
    expect(warn).not.toHaveBeenCalled();
    new DoneFile(inDir('no/done'), undefined, warn);
    expect(warn).toHaveBeenCalledWith(
      `--done-file: posidle sees no directory ${inDir('no')} yet. Is its volume mounted here?`,
    );
  });

  test.each([
    ['a file is its directory', () => writeFileSync(inDir('a'), ''), 'not a directory'],
    ['it is a link to itself', () => symlinkSync('a', inDir('a')), 'too many symbolic links encountered'],
  ])('that posidle cannot see is told once, and counts as soon as it can be seen: %s', (_, hide, why) => {
    hide();
    const file = new DoneFile(inDir('a', 'done'), undefined, warn);
    expect([file.look(), file.look()]).toEqual([false, false]);
    expect(warn.mock.calls.filter(([text]) => text.includes('cannot see'))).toEqual([
      [
        `--done-file: posidle cannot see ${inDir('a', 'done')}: ${why}. Until it can, the file does not count`,
      ],
    ]);
    rmSync(inDir('a'));
    mkdirSync(inDir('a'));
    writeFileSync(inDir('a', 'done'), '');
    expect(file.look()).toBe(true);
  });

  test('that goes away again has come all the same', () => {
    writeFileSync(inDir('done'), '');
    const file = new DoneFile(inDir('done'), undefined, warn);
    expect(file.look()).toBe(true);
    rmSync(inDir('done'));
    expect(file.look()).toBe(true);
  });

  test('that is older than the Pod is found when it is touched', () => {
    writeFileSync(inDir('done'), '');
    utimesSync(inDir('done'), 1, 1);
    const file = new DoneFile(inDir('done'), 1_001, warn);
    expect(file.look()).toBe(false);
    expect(warn).toHaveBeenCalledWith(expect.stringContaining('is older than this Pod'));
    utimesSync(inDir('done'), 2, 2);
    expect(file.look()).toBe(true);
  });

  test('is found also where its directory comes later or is replaced', () => {
    const file = new DoneFile(inDir('a', 'done'), undefined, warn);
    mkdirSync(inDir('a'));
    expect(file.look()).toBe(false);
    renameSync(inDir('a'), inDir('b'));
    mkdirSync(inDir('a'));
    writeFileSync(inDir('a', 'done'), '');
    expect(file.look()).toBe(true);
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

import { mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { podStart } from '../../../src/node/files/pod-start.ts';

test('a Pod began when the runtime wrote its host name, or up to a second earlier', () => {
  const dir = mkdtempSync(join(tmpdir(), 'posidle-pod-'));
  const file = join(dir, 'hostname');
  writeFileSync(file, 'pod\n');
  utimesSync(file, 100, 100);
  expect(podStart({ KUBERNETES_SERVICE_HOST: '10.0.0.1' }, file)).toBe(99_000);
  rmSync(dir, { recursive: true });
});

test('outside Kubernetes nobody knows when a Pod began, and every done file counts', () => {
  expect(podStart({})).toBeUndefined();
});

import { readdirSync, readFileSync, statSync } from 'node:fs';
import { copyFile, truncate } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { until } from '../support/until.ts';
import type { Pod } from './pod.ts';

/** Main ends a moment before the fixed-interval script takes its next look: 2 s of 60. */
export async function endBeforeALook(pod: Pod, path: string): Promise<void> {
  await Promise.all([pod.fluentdReady(), sleep((pod.plan.waits.window * 29) / 30)]);
  await pod.lines.append(path, 5000);
}

/** What logrotate does. Fluentd knows a truncation by a size below the last one it saw: it must have seen it whole. */
export async function copytruncate(pod: Pod, path: string): Promise<void> {
  await readUpTo(pod.pos, path, statSync(path).size);
  await copyFile(path, `${path}.1`);
  await truncate(path, 0);
  await readUpTo(pod.pos, path, 0);
}

/** Waits until the pos file says that Fluentd has read `path` up to `position`. */
export async function readUpTo(posFile: string, path: string, position: number): Promise<void> {
  const entry = `${path}\t${position.toString(16).padStart(16, '0')}\t`;
  await until(`${path} read up to ${position}`, () => readFileSync(posFile, 'latin1').includes(entry));
}

/** SIGKILL to the worker of the Fluentd that runs with this configuration. */
export function killWorker(confPath: string): void {
  const workers = readdirSync('/proc').filter((name) => /^\d+$/.test(name) && isWorker(name, confPath));
  if (workers.length === 0) throw new Error(`no worker runs with ${confPath}`);
  for (const pid of workers) process.kill(Number(pid), 'SIGKILL');
}

function isWorker(pid: string, confPath: string): boolean {
  try {
    const words = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
    return words.includes('--under-supervisor') && words.includes(confPath);
  } catch {
    return false;
  }
}

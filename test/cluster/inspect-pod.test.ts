import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { beforeEach, describe, inject, test } from 'vitest';
import { CLI } from '../support/posidle.ts';
import { until } from '../support/until.ts';
import { FILE_60S, whenWritten } from './bench/scenarios.ts';
import { kubectlPath } from './connect.ts';
import type { Playing } from './play.ts';
import { playRow } from './row.ts';

/** `kubectl posidle …` runs the program of that name. */
async function plugin(...words: readonly string[]): Promise<string> {
  const dir = mkdtempSync(join(tmpdir(), 'posidle-plugin-'));
  symlinkSync(CLI, join(dir, 'kubectl-posidle'));
  const PATH = [dir, dirname(kubectlPath()), process.env.PATH].join(':');
  try {
    const run = promisify(execFile)(kubectlPath(), ['posidle', ...words], { env: { ...process.env, PATH } });
    return (await run).stdout;
  } finally {
    rmSync(dir, { recursive: true });
  }
}

describe('kubectl posidle inspect', () => {
  beforeEach(({ skip }) => skip(inject('noCluster') !== '', inject('noCluster')));

  test('shows what a Fluentd in a Pod has read, while posidle sleeps beside it', async () => {
    const look = async (pod: Playing) => {
      // The buffer is not flushed yet: all is read, and something is left.
      const isRead = async () => {
        const { posFiles, left } = JSON.parse(
          await plugin('inspect', pod.name, '-n', pod.namespace, '--json'),
        );
        const [entry] = posFiles[0]?.entries ?? [];
        return entry?.path === '/var/log/app/a.log' && entry.lag === 0 && left.worst[0]?.kind === 'held';
      };
      await until('the plugin shows that all is read', isRead, { every: 500 });
      await pod.exec('main', 'touch /var/log/app/go');
    };
    await playRow({
      title: 'somebody looks while main runs',
      main: 'slowly 1 20 >>a.log; touch written; until [ -e go ]; do sleep 0.2; done',
      lines: 20,
      buffer: FILE_60S,
      acts: () => ({ during: whenWritten(look) }),
    });
  });
});

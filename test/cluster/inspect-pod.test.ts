import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { beforeEach, describe, expect, inject, test } from 'vitest';
import { CLI } from '../support/posidle.ts';
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
    let shown = '';
    const look = async (pod: Playing) => {
      shown = await plugin('inspect', pod.name, '-n', pod.namespace, '--json', '--wait', '30s');
      await pod.exec('main', 'touch', '/var/log/app/go');
    };
    await playRow({
      title: 'somebody looks while main runs',
      main: 'slowly 1 20 >>a.log; touch written; until [ -e go ]; do sleep 0.2; done',
      lines: 20,
      buffer: FILE_60S,
      acts: () => ({ during: whenWritten(look) }),
    });
    const entry = expect.objectContaining({ path: '/var/log/app/a.log' });
    expect(JSON.parse(shown)).toMatchObject({ caughtUp: true, posFiles: [{ entries: [entry] }] });
  });
});

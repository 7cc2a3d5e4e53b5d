import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, renameSync, writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import type { ProcessIdentity } from '../../src/core/progress/fluentd-reading.ts';
import { NodeHost } from '../../src/node/node-host.ts';
import { describeHost, rowOf, type World } from '../support/host-contract.ts';
import { tempDir } from '../support/temp-dir.ts';
import { until } from '../support/until.ts';

const path = tempDir();

describeHost('NodeHost', async (use) => {
  const host = new NodeHost();
  const children: ChildProcess[] = [];
  try {
    await use(realWorld(host, children));
  } finally {
    host.close();
    for (const child of children) child.kill('SIGKILL');
  }
});

function realWorld(host: NodeHost, children: ChildProcess[]): World {
  const start = (command: string, ...args: string[]) => {
    const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'ignore'] });
    children.push(child);
    return child;
  };
  return {
    host,
    self: process.pid,
    path,
    write: (name, text) => writeFileSync(path(name), text),
    append: (name, text) => appendFileSync(path(name), text),
    rename: (from, to) => renameSync(path(from), path(to)),
    startProcess: async () => identityOf(host, start('sleep', '60').pid),
    isRunning: async (pid) => (await rowOf(host, pid))?.zombie === false,
    startZombie: async () => {
      // The program that takes the shell's place knows nothing of its child, and never reaps it; the shell itself might.
      const parent = start('sh', '-c', 'sleep 0.5 & echo $!; exec sleep 60');
      const [line] = await once(createInterface({ input: parent.stdout ?? process.stdin }), 'line');
      const pid = Number(line);
      await until('the child is a zombie', async () => (await rowOf(host, pid))?.zombie);
      return identityOf(host, pid);
    },
    requestIn: (wait, by) => {
      setTimeout(() => host.request(by), wait);
    },
  };
}

async function identityOf(host: NodeHost, pid: number | undefined): Promise<ProcessIdentity> {
  const row = await rowOf(host, pid ?? 0);
  if (row === undefined) throw new Error(`no process ${pid}`);
  return { pid: row.pid, startTime: row.startTime };
}

import { execFile, spawn } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { onTestFinished } from 'vitest';
import { until } from '../support/until.ts';
import { standInFor } from './images.ts';
import { environment } from './podman.ts';

/** Runs docker-compose with the sample, whose main writes its lines at once, and then runs `last`. The words give its stdout and stderr. */
export async function compose(last: string): Promise<(...words: readonly string[]) => Promise<string>> {
  const dir = mkdtempSync(join(tmpdir(), 'posidle-compose-'));
  const socket = join(dir, 'podman.sock');
  const service = spawn('podman', ['system', 'service', '--time', '0', `unix://${socket}`], {
    env: environment(),
    stdio: 'ignore',
  });
  cpSync('docker/kubernetes/base', join(dir, 'kubernetes/base'), { recursive: true });
  const cwd = join(dir, 'compose');
  mkdirSync(cwd);
  const sample = readFileSync('docker/compose/compose.yaml', 'utf8')
    .replaceAll(/image: (\S+)/g, (_, image) => `image: ${standInFor(image)}`)
    .replace('sleep 1; done', `done; ${last}`);
  writeFileSync(join(cwd, 'compose.yaml'), sample);
  const project = { DOCKER_HOST: `unix://${socket}`, COMPOSE_PROJECT_NAME: basename(dir).toLowerCase() };
  const run = async (...words: readonly string[]) => {
    const env = { ...environment(), ...project };
    const { stdout, stderr } = await promisify(execFile)('docker-compose', words, { cwd, env });
    return stdout + stderr;
  };
  onTestFinished(async () => {
    await run('down', '--volumes', '--timeout', '0').catch(() => undefined);
    service.kill();
    rmSync(dir, { recursive: true });
  });
  await until('podman listens', () => existsSync(socket));
  return run;
}

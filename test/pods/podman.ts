import { execFile, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

const { POSIDLE_FLUENTD_CACHE, XDG_CACHE_HOME } = process.env;
const CACHE = POSIDLE_FLUENTD_CACHE || join(XDG_CACHE_HOME || join(homedir(), '.cache'), 'posidle');
/** Written by .ci/install-podman. */
const CONTAINERS_CONF = join(CACHE, 'containers.conf');
const LIMIT = 64 << 20;

/** The output of podman. Rejects with its error message if it fails. */
export function podman(...args: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    // crun wants a pure cgroup layout, which a nested machine does not have.
    const words = ['--runtime', 'runc', ...args];
    execFile('podman', words, { env: environment(), maxBuffer: LIMIT }, (error, stdout, stderr) => {
      if (error === null) resolve(stdout);
      else reject(new Error(`podman ${args.join(' ')}: ${stderr.trim() || error.message}`));
    });
  });
}

/** stdout and stderr in one, as `kubectl logs` shows them. */
export function logsOf(container: string): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile(
      'podman',
      ['logs', container],
      { env: environment(), maxBuffer: LIMIT },
      (error, stdout, stderr) => (error === null ? resolve(stdout + stderr) : reject(error)),
    );
  });
}

/** Why Pods cannot be played here, or undefined; under CI=true the lack is a failure. */
export function missingPodman(images: readonly string[]): string | undefined {
  const there =
    existsSync(CONTAINERS_CONF) &&
    images.every(
      (image) => spawnSync('podman', ['image', 'exists', image], { env: environment() }).status === 0,
    );
  if (there) return undefined;
  const reason = 'podman or its images are not there: run .ci/install-podman as root';
  if (process.env.CI === 'true') throw new Error(reason);
  return reason;
}

export function environment(): NodeJS.ProcessEnv {
  return { ...process.env, CONTAINERS_CONF };
}

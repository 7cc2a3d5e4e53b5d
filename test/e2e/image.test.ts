import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { compose } from '../pods/compose.ts';
import { BASES, standInFor } from '../pods/images.ts';
import { podIn } from '../pods/kubernetes.ts';
import { kustomize } from '../pods/kustomize.ts';
import { environment, logsOf, missingPodman, podman } from '../pods/podman.ts';
import { posText } from '../support/builders.ts';
import { until } from '../support/until.ts';

const reason = missingPodman(Object.values(BASES));
const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };

describe.skipIf(reason !== undefined)('the image posidle', () => {
  const image = standInFor('posidle:0.1.0');
  let dir: string;
  let archive: string;

  beforeAll(() => {
    dir = mkdtempSync(join(tmpdir(), 'posidle-image-'));
    chmodSync(dir, 0o777);
    archive = join(dir, 'posidle.tar');
    execFileSync(process.execPath, ['docker/build-image.mjs', archive]);
  });
  afterAll(() => rmSync(dir, { recursive: true }));

  test('has at most 40 MB', () => {
    expect(statSync(archive).size).toBeLessThan(40e6);
  });

  test('is an archive that podman loads, and runs as nobody', async () => {
    expect(await podman('load', '--quiet', '--input', archive)).toContain(image);
    expect((await podman('run', '--rm', '--network', 'none', image, '--version')).trim()).toBe(version);
    const id = await podman('run', '--rm', '--network', 'none', '--entrypoint', 'id', image, '-u');
    expect(id.trim()).toBe('65534');
  });

  test('runs in an image without a libc', async () => {
    const mount = ['--rm', '--network', 'none', '--volume', `${dir}:/posidle`];
    await podman('run', ...mount, '--entrypoint', 'cp', image, '-R', '/opt/posidle/.', '/posidle');
    const { busybox } = BASES;
    expect((await podman('run', ...mount, busybox, '/posidle/posidle', '--version')).trim()).toBe(version);
  });

  test('adds posidle to a manifest on a machine without Node', () => {
    const words = ['run', '--rm', '-i', '--network', 'none', image, 'inject', '--image', image, '-'];
    const input = readFileSync('docker/kubernetes/base/job.yaml');
    const { stdout } = spawnSync('podman', ['--runtime', 'runc', ...words], { env: environment(), input });
    expect(String(stdout)).toContain('name: posidle-install');
  });

  test("is the exporter of the DaemonSet, and tells how far the node's logs are read", {
    timeout: 180_000,
  }, async () => {
    const node = mkdtempSync(join(tmpdir(), 'posidle-node-'));
    const name = basename(node).toLowerCase();
    onTestFinished(async () => {
      await podman('pod', 'rm', '--force', '--time', '0', name).catch(() => undefined);
      rmSync(node, { recursive: true });
    });
    await podman('play', 'kube', '--network', 'none', '--log-driver', 'k8s-file', writePod(node, name));
    const pod = `${name}-posidle`;
    const ask = () => podman('exec', pod, 'wget', '-qO-', 'http://127.0.0.1:8612/metrics').catch(() => '');
    const told = async () => [await ask()].find((text) => text.includes('posidle_lag_bytes'));
    const metrics = await until('the exporter answers', told, { within: 120_000, every: 500 }).catch(
      async ({ message }: Error) => expect.fail(`${message}\n${await logsOf(pod)}`),
    );
    expect(metrics).toMatch(/^posidle_lag_bytes 4$/m);
    expect(metrics).toMatch(/^posidle_unreadable_pos_files 0$/m);
    expect(await podman('exec', pod, 'posidle', 'inspect')).toMatch(/^behind by 4 B in 1 of 1 file$/m);
  });

  test('drains and stops Fluentd by Docker Compose once main has completed, and then `up` ends', async () => {
    const run = await compose('exit 0');
    expect(await run('up', '--no-color')).toContain(
      'drained: 20 lines read from 1 file; stdout: 20 taken, 20 delivered',
    );
    expect((await run('ps')).match(/Exit 0 /g)).toHaveLength(4);
  });

  test('drains by hand under Docker Compose after a main that failed', async () => {
    const run = await compose('exit 7');
    await expect(run('up')).rejects.toThrow('exited with code 7');
    expect(await run('run', '--rm', '--no-deps', 'posidle')).toContain('drained: 20 lines read from 1 file');
    expect((await run('logs', 'fluentd')).match(/line \d+ of 20/g)).toHaveLength(20);
  });
});

const LOG = '/var/log/containers/app_default_main-0123456789abcdef.log';

/** A node with one log, of which half is read, and the Pod that the DaemonSet's controller would make there; gives its file. */
function writePod(node: string, name: string): string {
  const log = join(node, 'log/containers', basename(LOG));
  mkdirSync(dirname(log), { recursive: true });
  mkdirSync(join(node, 'conf'));
  writeFileSync(log, 'one\ntwo\n', { mode: 0o640 });
  writeFileSync(
    join(node, 'log/app.pos'),
    posText([{ path: LOG, position: 4, inode: String(statSync(log).ino) }]),
  );
  // podman asks with curl, which the image lacks, and has no ports without a network.
  const containers = podIn(kustomize('docker/exporter/daemonset')).containers.map(
    ({ livenessProbe: _, ports: __, ...container }) => {
      return { ...container, image: standInFor(container.image) };
    },
  );
  const paths = { 'fluent-conf': join(node, 'conf'), logs: join(node, 'log') };
  const volumes = Object.entries(paths).map(([volume, path]) => ({ name: volume, hostPath: { path } }));
  const file = join(node, 'pod.yaml');
  writeFileSync(
    file,
    JSON.stringify({ apiVersion: 'v1', kind: 'Pod', metadata: { name }, spec: { containers, volumes } }),
  );
  return file;
}

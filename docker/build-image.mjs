// Builds the image posidle from docker/Dockerfile as an OCI archive: npm run image -- OUT.tar
// NODE_IMAGE and SHELL_IMAGE name other bases. podman takes those of .ci/install-podman if they are there.
import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const name = `docker.io/library/posidle:${version}`;
const bases = {
  NODE_IMAGE: 'localhost/posidle-test/node:24',
  SHELL_IMAGE: 'localhost/posidle-test/busybox:1.37',
};
/** zstd: gzip makes 43 MB of the image. containerd, CRI-O, podman and Docker take both (image-spec, layer.md). */
const ZSTD = ['--quiet', '--stdout', '-9', '-T0'];

const [out] = process.argv.slice(2);
if (out === undefined) fail('give the archive to write: npm run image -- posidle.tar');
const target = resolve(out);
if (has('podman')) withPodman();
else if (has('docker')) withDocker();
else fail('neither podman nor docker is there. On Debian 12, .ci/install-podman installs podman');

function withPodman() {
  const cache = process.env.POSIDLE_FLUENTD_CACHE ?? join(homedir(), '.cache/posidle');
  const env = { CONTAINERS_CONF: join(cache, 'containers.conf'), ...process.env };
  // crun wants a pure cgroup layout, which a nested machine does not have.
  const podman = (...words) =>
    execFileSync('podman', ['--runtime', 'runc', ...words], {
      cwd: root,
      env,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'inherit'],
    });
  const isHere = Object.values(bases).every(
    (base) => spawnSync('podman', ['image', 'exists', base], { env }).status === 0,
  );
  const local = isHere ? ['--pull=never', '--network=none', ...argsOf(bases)] : [];
  // No layers: each bundle would leave its own behind.
  podman('build', '--quiet', '--layers=false', ...local, ...ownArgs(), '--tag', name, '.');
  const dir = mkdtempSync(join(tmpdir(), 'posidle-image-'));
  try {
    podman('save', '--quiet', '--format', 'oci-dir', '--output', dir, name);
    compress(dir);
    execFileSync('tar', ['-C', dir, '-cf', target, ...readdirSync(dir)]);
  } finally {
    rmSync(dir, { recursive: true });
  }
}

function withDocker() {
  const output = `type=oci,dest=${target},name=${name},compression=zstd,compression-level=9,force-compression=true`;
  execFileSync('docker', ['buildx', 'build', ...ownArgs(), '--output', output, '.'], {
    cwd: root,
    stdio: 'inherit',
  });
}

function ownArgs() {
  const given = Object.fromEntries(
    Object.keys(bases).flatMap((base) => (process.env[base] ? [[base, process.env[base]]] : [])),
  );
  return ['--file', 'docker/Dockerfile', ...argsOf({ VERSION: version, ...given })];
}

function argsOf(values) {
  return Object.entries(values).flatMap(([key, value]) => ['--build-arg', `${key}=${value}`]);
}

/** Compresses the layers anew, and names the image so that containerd finds the name: `io.containerd.image.name`. */
function compress(dir) {
  const blob = (digest) => join(dir, 'blobs/sha256', digest.slice('sha256:'.length));
  const replace = (descriptor, bytes) => {
    const digest = `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
    rmSync(blob(descriptor.digest));
    writeFileSync(blob(digest), bytes);
    Object.assign(descriptor, { digest, size: bytes.length });
  };
  const index = JSON.parse(readFileSync(join(dir, 'index.json'), 'utf8'));
  const [first] = index.manifests;
  const manifest = JSON.parse(readFileSync(blob(first.digest), 'utf8'));
  for (const layer of manifest.layers) {
    replace(
      layer,
      execFileSync('sh', ['-c', `gzip -dc "$0" | zstd ${ZSTD.join(' ')}`, blob(layer.digest)], {
        maxBuffer: 2 ** 30,
      }),
    );
    layer.mediaType = 'application/vnd.oci.image.layer.v1.tar+zstd';
  }
  replace(first, JSON.stringify(manifest));
  first.annotations = { 'io.containerd.image.name': name, 'org.opencontainers.image.ref.name': version };
  writeFileSync(join(dir, 'index.json'), JSON.stringify(index));
}

function has(command) {
  return spawnSync(command, ['--version']).status === 0;
}

function fail(message) {
  process.stderr.write(`${message}\n`);
  process.exit(2);
}

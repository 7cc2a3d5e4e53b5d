import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BASES, standInFor } from '../pods/images.ts';
import { missingPodman, podman } from '../pods/podman.ts';
import { loadImage } from './connect.ts';
import { kubectl } from './kubectl.ts';

const STOCK = ['busybox:1.37', 'node:24-bookworm-slim', 'fluent/fluentd:v1.18-debian'];
const MARK = 'posidle.test=1';

/** Gives the node the stock images that the manifests name, where it has none. */
export async function loadStockImages(): Promise<void> {
  const reason = missingPodman(Object.values(BASES));
  if (reason !== undefined) throw new Error(reason);
  const there = await kubectl(['get', 'nodes', '-o', 'jsonpath={.items[*].status.images[*].names}']);
  for (const image of STOCK) if (!there.includes(`"${nodeName(image)}"`)) await load(image);
}

/** Gives the node the image that users build from this repository. */
export async function loadPosidle(): Promise<void> {
  await withArchive((archive) => {
    execFileSync(process.execPath, ['docker/build-image.mjs', archive], { stdio: 'inherit' });
    loadImage(archive);
  });
}

/** The same, and the one that they build on Fluentd's. */
export async function loadBuiltImages(): Promise<void> {
  await loadPosidle();
  const bases = [`POSIDLE_IMAGE=${standInFor('posidle:0.1.0')}`, `FLUENTD_IMAGE=${BASES.fluentd}`];
  const words = ['--quiet', '--pull=never', '--layers=false', ...bases.map((base) => `--build-arg=${base}`)];
  await podman(
    'build',
    ...words,
    '--label',
    MARK,
    '--tag',
    standInFor('posidle-fluentd:0.1.0'),
    'docker/kubernetes/parent',
  );
  await load('posidle-fluentd:0.1.0');
  for (const label of [MARK, 'org.opencontainers.image.title=posidle'])
    await podman('image', 'prune', '--force', '--filter', `label=${label}`);
}

async function load(image: string): Promise<void> {
  await withArchive(async (archive) => {
    const output = ['--quiet', '--format', 'docker-archive', '--output', archive];
    await podman('save', ...output, standInFor(image), nodeName(image));
    loadImage(archive);
  });
}

async function withArchive(use: (archive: string) => void | Promise<void>): Promise<void> {
  const dir = mkdtempSync(join(tmpdir(), 'posidle-image-'));
  try {
    await use(join(dir, 'image.tar'));
  } finally {
    rmSync(dir, { recursive: true });
  }
}

/** The whole name of an image, as the node keeps it. */
function nodeName(image: string): string {
  return image.includes('/') ? `docker.io/${image}` : `docker.io/library/${image}`;
}

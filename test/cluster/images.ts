import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { BUNDLE } from '../pods/bundle.ts';
import { BASES, buildImage, standInFor } from '../pods/images.ts';
import { missingPodman, podman } from '../pods/podman.ts';
import { loadImage } from './connect.ts';
import { kubectl } from './kubectl.ts';

const STOCK = ['busybox:1.37', 'node:24-bookworm-slim', 'fluent/fluentd:v1.18-debian'];
const BUILT = {
  'posidle-fluentd:0.1.0': 'docker/Dockerfile',
  'posidle-init:0.1.0': 'docker/init.Dockerfile',
};

/** Gives the node the stock images that the manifests name, where it has none. */
export async function loadStockImages(): Promise<void> {
  const reason = missingPodman(Object.values(BASES));
  if (reason !== undefined) throw new Error(reason);
  const there = await kubectl(['get', 'nodes', '-o', 'jsonpath={.items[*].status.images[*].names}']);
  for (const image of STOCK) if (!there.includes(`"${nodeName(image)}"`)) await load(image);
}

/** Gives the node the images that users build from this repository. */
export async function loadBuiltImages(): Promise<void> {
  for (const [image, dockerfile] of Object.entries(BUILT)) {
    await buildImage(dockerfile, image, dirname(BUNDLE));
    await load(image);
  }
}

async function load(image: string): Promise<void> {
  const dir = mkdtempSync(join(tmpdir(), 'posidle-image-'));
  const archive = join(dir, 'image.tar');
  try {
    await podman(
      'save',
      '--quiet',
      '--format',
      'docker-archive',
      '--output',
      archive,
      standInFor(image),
      nodeName(image),
    );
    loadImage(archive);
  } finally {
    rmSync(dir, { recursive: true });
  }
}

/** The whole name of an image, as the node keeps it. */
function nodeName(image: string): string {
  return image.includes('/') ? `docker.io/${image}` : `docker.io/library/${image}`;
}

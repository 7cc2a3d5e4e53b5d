import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { podman } from './podman.ts';

const LOCAL = 'localhost/posidle-test';
/** Made by .ci/install-podman. */
export const BASES = {
  debian: `${LOCAL}/debian:bookworm`,
  node: `${LOCAL}/node:24`,
  fluentd: `${LOCAL}/fluentd:1.18.0`,
  newest: `${LOCAL}/fluentd:1.20.1`,
};

const MARK = 'posidle.test=1';

/** What stands here for the images that the manifests name. */
const STAND_INS: Readonly<Record<string, string>> = {
  'busybox:1.37': BASES.debian,
  'node:24-bookworm-slim': BASES.node,
  'fluent/fluentd:v1.18-debian': BASES.fluentd,
  'fluent/fluentd:v1.19-debian': BASES.newest,
  'posidle-fluentd:0.1.0': `${LOCAL}/posidle-fluentd`,
  'posidle-init:0.1.0': `${LOCAL}/posidle-init`,
};

export function standInFor(image: string): string {
  const name = STAND_INS[image];
  if (name === undefined)
    throw new Error(`no stand-in for the image ${image}: name it in test/pods/images.ts`);
  return name;
}

/** Builds an image from the very Dockerfile that users build, on the stand-ins; `dist` holds the bundle. */
export async function buildImage(dockerfile: string, image: string, dist: string): Promise<void> {
  const context = mkdtempSync(join(tmpdir(), 'posidle-build-'));
  cpSync(dist, join(context, 'dist'), { recursive: true });
  const buildArgs = [
    '--build-arg',
    `NODE_IMAGE=${BASES.node}`,
    '--build-arg',
    `FLUENTD_IMAGE=${BASES.fluentd}`,
  ];
  // No layers: each bundle would leave its own behind.
  const options = ['--quiet', '--pull=never', '--network', 'none', '--layers=false'];
  const name = standInFor(image);
  const words = [...options, ...buildArgs, '--label', MARK, '--file', dockerfile, '--tag', name, context];
  await podman('build', ...words).finally(() => rmSync(context, { recursive: true }));
  await podman('image', 'prune', '--force', '--filter', `label=${MARK}`);
}

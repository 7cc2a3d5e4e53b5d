const LOCAL = 'localhost/posidle-test';
/** Made by .ci/install-podman. */
export const BASES = {
  busybox: `${LOCAL}/busybox:1.37`,
  node: `${LOCAL}/node:24`,
  fluentd: `${LOCAL}/fluentd:1.18.0`,
  newest: `${LOCAL}/fluentd:1.20.1`,
};

/** The local stand-ins for the images in the manifests. */
const STAND_INS: Readonly<Record<string, string>> = {
  'busybox:1.37': BASES.busybox,
  'node:24-bookworm-slim': BASES.node,
  'fluent/fluentd:v1.18-debian': BASES.fluentd,
  'fluent/fluentd:v1.19-debian': BASES.newest,
  'posidle:0.1.0': 'docker.io/library/posidle:0.1.0',
  'posidle-fluentd:0.1.0': `${LOCAL}/posidle-fluentd`,
};

export function standInFor(image: string): string {
  const name = STAND_INS[image];
  if (name === undefined)
    throw new Error(`no stand-in for the image ${image}: name it in test/pods/images.ts`);
  return name;
}

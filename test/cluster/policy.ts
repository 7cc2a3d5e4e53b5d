import { kubectl } from './kubectl.ts';

/** The folder of docker/kubernetes for the version of the cluster. */
async function folder(): Promise<string> {
  const { minor } = JSON.parse(await kubectl(['get', '--raw', '/version'])) as { minor: string };
  return `docker/kubernetes/inject${Number.parseInt(minor, 10) < 36 ? '-v1beta1' : ''}`;
}

export async function applyPolicy(): Promise<void> {
  await kubectl(['apply', '-k', await folder()]);
}

export async function deletePolicy(): Promise<void> {
  await kubectl(['delete', '-k', await folder(), '--wait=false']);
}

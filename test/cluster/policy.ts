import { kubectl } from './kubectl.ts';

/** The version of MutatingAdmissionPolicy on the cluster. */
export async function policyVersion(): Promise<'v1' | 'v1beta1'> {
  return (await minorVersion()) < 36 ? 'v1beta1' : 'v1';
}

/** Of the cluster: 37 for 1.37.2. */
export async function minorVersion(): Promise<number> {
  const { minor } = JSON.parse(await kubectl(['get', '--raw', '/version'])) as { minor: string };
  return Number.parseInt(minor, 10);
}

async function folder(): Promise<string> {
  return `docker/kubernetes/inject${(await policyVersion()) === 'v1' ? '' : '-v1beta1'}`;
}

export async function applyPolicy(): Promise<void> {
  await kubectl(['apply', '-k', await folder()]);
}

export async function deletePolicy(): Promise<void> {
  await kubectl(['delete', '-k', await folder(), '--wait=false']);
}

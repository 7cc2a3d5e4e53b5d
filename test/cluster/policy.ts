import { kubectl } from './kubectl.ts';

/** The version of MutatingAdmissionPolicy on the cluster. */
export async function policyVersion(): Promise<'v1' | 'v1beta1'> {
  const { minor } = JSON.parse(await kubectl(['get', '--raw', '/version'])) as { minor: string };
  return Number.parseInt(minor, 10) < 36 ? 'v1beta1' : 'v1';
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

import { isUtf8 } from 'node:buffer';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import * as yaml from 'js-yaml';
import type { ConfigMap, Manifest } from './kubernetes.ts';
import { merge } from './merge.ts';

interface Kustomization {
  resources?: string[];
  patches?: { path: string }[];
  configMapGenerator?: { name: string; files: string[] }[];
}

/** `kubectl kustomize DIR`, as far as docker/kubernetes uses it. */
export function kustomize(dir: string): Manifest[] {
  const kustomization = yaml.load(readFileSync(join(dir, 'kustomization.yaml'), 'utf8')) as Kustomization;
  const { resources = [], patches = [], configMapGenerator = [] } = kustomization;
  const made = configMapGenerator.map(({ name, files }) =>
    configMap(
      name,
      files.map((file) => join(dir, file)),
    ),
  );
  const manifests = [...resources.flatMap((path) => resource(join(dir, path))), ...made];
  return patches.reduce((before, { path }) => patched(before, join(dir, path)), manifests);
}

function resource(path: string): Manifest[] {
  return statSync(path).isDirectory() ? kustomize(path) : manifestsIn(readFileSync(path, 'utf8'));
}

export function manifestsIn(text: string): Manifest[] {
  return (yaml.loadAll(text) as (Manifest | null)[]).filter((manifest) => manifest !== null);
}

/** A ConfigMap of files, as `kubectl create configmap NAME --from-file=…` makes it. */
export function configMap(name: string, files: readonly string[]): ConfigMap {
  const missing = files.find((file) => !existsSync(file));
  if (missing !== undefined) throw new Error(`configMapGenerator ${name}: there is no ${missing}`);
  const map: ConfigMap = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data: {} };
  for (const file of files) {
    const bytes = readFileSync(file);
    if (isUtf8(bytes)) map.data[basename(file)] = bytes.toString();
    else map.binaryData = { ...map.binaryData, [basename(file)]: bytes.toString('base64') };
  }
  return map;
}

function patched(manifests: Manifest[], path: string): Manifest[] {
  const [patch] = manifestsIn(readFileSync(path, 'utf8'));
  if (patch === undefined) throw new Error(`${path} is empty`);
  const isMeant = ({ kind, metadata }: Manifest) =>
    kind === patch.kind && metadata.name === patch.metadata.name;
  if (!manifests.some(isMeant)) throw new Error(`${path}: nothing to patch`);
  return manifests.map((manifest) => (isMeant(manifest) ? (merge(manifest, patch) as Manifest) : manifest));
}

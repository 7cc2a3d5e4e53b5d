import { isUtf8 } from 'node:buffer';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import * as yaml from 'js-yaml';
import type { ConfigMap, Manifest } from './kubernetes.ts';
import { merge } from './merge.ts';

interface Kustomization {
  kind: 'Kustomization' | 'Component';
  resources?: string[];
  components?: string[];
  patches?: { path: string; target?: { kind: string } }[];
  configMapGenerator?: { name: string; files: string[]; behavior?: 'replace' }[];
}

/** `kubectl kustomize DIR`, as far as docker/kubernetes uses it. */
export function kustomize(dir: string): Manifest[] {
  return apply(dir, []);
}

function apply(dir: string, given: readonly Manifest[]): Manifest[] {
  const kustomization = yaml.load(readFileSync(join(dir, 'kustomization.yaml'), 'utf8')) as Kustomization;
  const { resources = [], components = [], patches = [], configMapGenerator = [] } = kustomization;
  let manifests = [...given, ...resources.flatMap((path) => resource(join(dir, path)))];
  for (const { name, files, behavior } of configMapGenerator) {
    if (behavior === 'replace')
      manifests = manifests.filter((old) => old.kind !== 'ConfigMap' || old.metadata.name !== name);
    const paths = files.map((file) => join(dir, file));
    manifests.push(configMap(name, paths));
  }
  for (const path of components) manifests = apply(join(dir, path), manifests);
  for (const { path, target } of patches) manifests = patched(manifests, join(dir, path), target?.kind);
  return manifests;
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

/** A target is every object of its kind, else the patch names its own. */
function patched(manifests: readonly Manifest[], path: string, targetKind: string | undefined): Manifest[] {
  const [patch] = manifestsIn(readFileSync(path, 'utf8'));
  if (patch === undefined) throw new Error(`${path} is empty`);
  const isMeant = ({ kind, metadata }: Manifest) =>
    targetKind === undefined
      ? kind === patch.kind && metadata.name === patch.metadata.name
      : kind === targetKind;
  if (!manifests.some(isMeant)) throw new Error(`${path}: nothing to patch`);
  return manifests.map((manifest) => {
    if (!isMeant(manifest)) return manifest;
    return { ...(merge(manifest, patch) as Manifest), metadata: manifest.metadata };
  });
}

import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ConfigMap, PodSpec } from './kubernetes.ts';

/** The kubelet makes an emptyDir, and a termination log, that every uid may write to. */
const FOR_ALL = 0o777;

/** The Pod's volumes as directories below `root`: name → path. */
export function makeVolumes(
  root: string,
  { volumes = [] }: PodSpec,
  configMaps: readonly ConfigMap[],
): Map<string, string> {
  return new Map(
    volumes.map(({ name, configMap }) => {
      const dir = join(root, 'volumes', name);
      mkdirSync(dir, { recursive: true });
      if (configMap === undefined) chmodSync(dir, FOR_ALL);
      else project(dir, named(configMaps, configMap.name));
      return [name, dir];
    }),
  );
}

/** A file for a container's /dev/termination-log. */
export function makeTerminationLog(root: string, container: string): string {
  const dir = join(root, 'termination');
  mkdirSync(dir, { recursive: true });
  const path = join(dir, container);
  writeFileSync(path, '');
  chmodSync(path, 0o666);
  return path;
}

/** A ConfigMap as the kubelet lays it out: file → ..data/file, ..data → a dated folder (pkg/volume/util/atomic_writer.go). */
function project(dir: string, { data }: ConfigMap): void {
  const dated = '..2026_01_01_00_00_00.1';
  mkdirSync(join(dir, dated));
  symlinkSync(dated, join(dir, '..data'));
  for (const [name, text] of Object.entries(data)) {
    writeFileSync(join(dir, dated, name), text, { mode: 0o644 });
    symlinkSync(join('..data', name), join(dir, name));
  }
}

function named(configMaps: readonly ConfigMap[], name: string): ConfigMap {
  const found = configMaps.find(({ metadata }) => metadata.name === name);
  if (found === undefined) throw new Error(`there is no ConfigMap ${name}`);
  return found;
}

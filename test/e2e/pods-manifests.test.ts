import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { settingsOf } from '../../src/tasks/watch-options.ts';
import { standInFor } from '../pods/images.ts';
import { configMapsIn, type Manifest, type PodSpec, podIn } from '../pods/kubernetes.ts';
import { kustomize, manifestsIn } from '../pods/kustomize.ts';
import { merge } from '../pods/merge.ts';
import { blocksIn, nativeBlock } from '../pods/readme.ts';

const DIR = 'docker/kubernetes';
const folders = readdirSync(DIR);
const placements = folders.filter((name) => !name.startsWith('inject'));
const rendered = [...placements.map((name) => join(DIR, name)), 'test/pods/original'];
// kubectl is not among Debian's packages in a version that knows Components; where it is, it has the last word.
const hasKubectl = spawnSync('kubectl', ['kustomize', '--help']).status === 0;
const testByKubectl = hasKubectl ? test : () => undefined;

describe('the manifests', () => {
  test.each(folders)('%s begins with when to use it, what it needs, and what it cannot do', (folder) => {
    const [when, needs, cannot] = readFileSync(join(DIR, folder, 'kustomization.yaml'), 'utf8').split('\n');
    expect(when).toMatch(/^# Use it if ./);
    expect(needs).toMatch(/^# It needs ./);
    expect(cannot).toMatch(/^# It cannot ./);
  });

  test.each(placements)('%s asks for memory and CPU, and names only images that are tested', (placement) => {
    const { containers, initContainers = [] } = podIn(kustomize(join(DIR, placement)));
    for (const { image, resources } of [...containers, ...initContainers]) {
      expect(standInFor(image)).toBeDefined();
      expect(resources).toMatchObject({
        requests: { cpu: expect.anything() },
        limits: { memory: expect.anything() },
      });
    }
  });

  test('the Job of docker/README is the placement native-sidecar', () => {
    const manifests = manifestsIn(nativeBlock());
    expect(manifests.map(({ kind }) => kind)).toEqual(['ConfigMap', 'Job']);
    expect(sortedPod(manifests)).toEqual(sortedPod(kustomize(join(DIR, 'native-sidecar'))));
    expect(configMapsIn(manifests)[0]?.data['fluent.conf']?.trimEnd()).toBe(
      readFileSync(join(DIR, 'base/fluent.conf'), 'utf8').trimEnd(),
    );
  });

  test.each(
    placements.filter((name) => !['base', 'demo', 'parent', 'init-container', 'pre-stop'].includes(name)),
  )('%s: Fluentd loads the witness from a volume that posidle has, too', (placement) => {
    const { containers, initContainers = [], volumes = [] } = podIn(kustomize(join(DIR, placement)));
    const all = [...initContainers, ...containers];
    expect(volumes).toContainEqual({ name: 'witness', emptyDir: {} });
    for (const { name, env = [], volumeMounts } of all.filter(({ name }) => name !== 'main')) {
      expect(volumeMounts).toContainEqual({ name: 'witness', mountPath: '/posidle' });
      if (name === 'fluentd')
        expect(env).toContainEqual({ name: 'RUBYOPT', value: '-I/posidle/ruby -renumerator' });
    }
  });

  test("README's block is what the hook adds to a Pod", () => {
    const [block = ''] = blocksIn('README.md', 'yaml');
    const patch = readFileSync(join(DIR, 'pre-stop/job.yaml'), 'utf8');
    const [spec = ''] = patch.split(/^ {6}containers:$/m);
    const missing = block
      .split('\n')
      .filter((line) => line !== '' && !patch.includes(`      ${line}\n`) && !spec.includes(line));
    expect(missing).toEqual([]);
    const names = (text: string) => [...text.matchAll(/^ *- name: (\S+)$/gm)].map(([, name]) => name);
    const [, inits = ''] = patch.split(/^ {6}initContainers:$/m);
    expect(names(block)).toEqual(names(inits));
  });

  test('an image with posidle as its parent waits for no call: it takes the default trigger, silence', () => {
    const dockerfile = readFileSync('docker/kubernetes/parent/Dockerfile', 'utf8');
    expect(dockerfile).toMatch(/^ENTRYPOINT \["tini", "--", "posidle", "run", "--", /m);
    expect(dockerfile).not.toMatch(/^(ENV| ).*POSIDLE_/m);
    expect(settingsOf({}, true)).toMatchObject({ quiet: 60_000, startTimeout: 600_000 });
  });
});

describe('the renderer', () => {
  for (const dir of hasKubectl ? rendered : []) {
    test(`renders ${dir} as kubectl does`, () => {
      const theirs = manifestsIn(execFileSync('kubectl', ['kustomize', dir], { encoding: 'utf8' }));
      const byKind = (a: Manifest, b: Manifest) => keyOf(a).localeCompare(keyOf(b));
      expect(kustomize(dir).toSorted(byKind)).toEqual(theirs.toSorted(byKind));
    });
  }

  testByKubectl("puts the page's generated ConfigMap, with its hash, into the Job", () => {
    const [generator = ''] = blocksIn('docker/README.md', 'yaml').filter((block) =>
      block.startsWith('configMapGenerator'),
    );
    const rendered = renderedByKubectl({
      'kustomization.yaml': `resources: [job.yaml]\n${generator}`,
      'job.yaml': nativeBlock(),
      'posidle.cjs': 'the bundle',
    });
    const bundled = configMapsIn(rendered).find(({ data }) => data['posidle.cjs'] === 'the bundle');
    expect(bundled?.metadata.name).toMatch(/^posidle-\w+$/);
    expect(podIn(rendered).volumes).toContainEqual({
      name: 'posidle',
      configMap: { name: bundled?.metadata.name },
    });
  });

  test('merges lists by their key, puts what the patch names first, deletes where asked', () => {
    const base = { containers: [{ name: 'a', image: 'x' }, { name: 'b' }, { name: 'd' }], kept: 1, gone: 2 };
    const patch = {
      containers: [{ name: 'c' }, { name: 'a', tty: true }, { name: 'b', $patch: 'delete' }],
      gone: null,
    };
    expect(merge(base, patch)).toEqual({
      containers: [{ name: 'c' }, { name: 'a', image: 'x', tty: true }, { name: 'd' }],
      kept: 1,
    });
  });

  test('replaces a list by its key where the patch says so', () => {
    const patch = { volumeMounts: [{ $patch: 'replace' }, { mountPath: '/b' }] };
    expect(merge({ volumeMounts: [{ mountPath: '/a' }] }, patch)).toEqual({
      volumeMounts: [{ mountPath: '/b' }],
    });
  });

  test('replaces lists that have no key', () => {
    expect(merge({ command: ['a', 'b'] }, { command: ['c'] })).toEqual({ command: ['c'] });
  });
});

/** The order of containers and volumes says nothing. */
function sortedPod(manifests: readonly Manifest[]): PodSpec {
  const byName = (a: { name: string }, b: { name: string }) => a.name.localeCompare(b.name);
  const { containers, volumes = [], ...rest } = podIn(manifests);
  return { ...rest, containers: containers.toSorted(byName), volumes: volumes.toSorted(byName) };
}

function renderedByKubectl(files: Readonly<Record<string, string>>): Manifest[] {
  const dir = mkdtempSync(join(tmpdir(), 'posidle-kustomize-'));
  try {
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(join(dir, dirname(path)), { recursive: true });
      writeFileSync(join(dir, path), text);
    }
    return manifestsIn(execFileSync('kubectl', ['kustomize', dir], { encoding: 'utf8' }));
  } finally {
    rmSync(dir, { recursive: true });
  }
}

function keyOf({ kind, metadata }: Manifest): string {
  return `${kind} ${metadata.name}`;
}

import { execFileSync, spawnSync } from 'node:child_process';
import { copyFileSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { load } from 'js-yaml';
import { describe, expect, test } from 'vitest';
import { injectInto } from '../../src/core/inject/inject.ts';
import { policyOf } from '../../src/tasks/watch-options.ts';
import { BUNDLE } from '../pods/bundle.ts';
import { standInFor } from '../pods/images.ts';
import { type Container, type Manifest, named, type PodSpec, podIn } from '../pods/kubernetes.ts';
import { kustomize, manifestsIn } from '../pods/kustomize.ts';
import { blocksIn } from '../pods/readme.ts';
import { tempDir } from '../support/temp-dir.ts';

const DIR = 'docker/kubernetes';
const folders = readdirSync(DIR);
const placements = folders.filter((name) => !name.startsWith('inject'));
const rendered = [...placements.map((name) => join(DIR, name)), 'test/pods/original'];
// Where kubectl is, it has the last word.
const hasKubectl = spawnSync('kubectl', ['kustomize', '--help']).status === 0;

describe('the manifests', () => {
  const inDir = tempDir();

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

  test.each(
    placements.filter((name) => !['asleep', 'base', 'demo', 'parent', 'init-container'].includes(name)),
  )('%s: Fluentd loads the witness from a volume that posidle has, too', (placement) => {
    const { containers, initContainers = [], volumes = [] } = podIn(kustomize(join(DIR, placement)));
    const all = [...initContainers, ...containers];
    expect(volumes).toContainEqual({ name: 'posidle', emptyDir: {} });
    for (const { name, env = [], volumeMounts } of all.filter(({ name }) => name !== 'main')) {
      expect(volumeMounts).toContainEqual({ name: 'posidle', mountPath: '/posidle' });
      if (name === 'fluentd')
        expect(env).toContainEqual({ name: 'RUBYOPT', value: '-I/posidle/ruby -renumerator' });
    }
  });

  test("docker/README's post-renderer adds posidle to what Helm gives it", () => {
    const dir = inDir();
    copyFileSync(BUNDLE, join(dir, 'posidle.cjs'));
    const [block = ''] = blocksIn('docker/README.md', 'sh').filter((one) => one.includes('post-render'));
    const [makes = '', installs = ''] = block.split('\n');
    execFileSync('sh', ['-c', makes], { cwd: dir });
    const rendered = readFileSync(join(DIR, 'demo/demo.yaml'));
    expect(installs).toContain('--post-renderer ./post-render ');
    const after = manifestsIn(
      execFileSync(join(dir, 'post-render'), { cwd: dir, input: rendered, encoding: 'utf8' }),
    );
    expect(named(podIn(after), 'posidle')).toMatchObject({ image: 'ghcr.io/OWNER/posidle:0.1.0' });
  });

  test("README's block is what `posidle inject` adds to a Pod", () => {
    const [block = ''] = blocksIn('README.md', 'yaml');
    const shown = load(block) as PodSpec;
    const pod = { kind: 'Pod', spec: { containers: [{ name: 'main' }, { name: 'fluentd' }] } };
    const { spec } = injectInto(pod, 'ghcr.io/OWNER/posidle:0.1.0').document as { spec: PodSpec };
    expect(spec).toMatchObject(shown);
    // The page leaves out what says nothing of how posidle works.
    const left = ({ securityContext: _, resources: __, ...rest }: Container) => rest;
    expect(shown.initContainers).toEqual(spec.initContainers?.map(left));
    expect(block.split('\n').length).toBeLessThanOrEqual(25);
  });

  test('asleep has the shape of what `posidle inject` adds, with a stock Node image', () => {
    const { spec } = injectInto({ kind: 'Pod', spec: podIn(kustomize(join(DIR, 'base'))) }, 'image')
      .document as {
      spec: PodSpec;
    };
    const asleep = podIn(kustomize(join(DIR, 'asleep')));
    const shape = ({ name, restartPolicy, env, lifecycle, resources, volumeMounts = [] }: Container) => ({
      ...{ name, restartPolicy, env, resources: name === 'fluentd' ? undefined : resources },
      mark: lifecycle?.preStop?.exec.command.at(-1),
      isMounted: volumeMounts.some(({ mountPath }) => mountPath === '/posidle'),
    });
    expect(asleep.initContainers?.map(shape)).toEqual(spec.initContainers?.map(shape));
    expect(asleep.terminationGracePeriodSeconds).toBe(spec.terminationGracePeriodSeconds);
  });

  test('an image with posidle as its parent waits for no call: it takes the default trigger, silence', () => {
    const dockerfile = readFileSync('docker/kubernetes/parent/Dockerfile', 'utf8');
    expect(dockerfile).toMatch(/^ENTRYPOINT \["tini", "--", "posidle", "run", "--", /m);
    expect(dockerfile).not.toMatch(/^(ENV| ).*POSIDLE_/m);
    expect(policyOf({}, undefined, 'parent')).toMatchObject({ quiet: 60_000, startTimeout: 600_000 });
  });
});

test.each(hasKubectl ? rendered : [])('the tests render %s as kubectl does', (dir) => {
  const theirs = manifestsIn(execFileSync('kubectl', ['kustomize', dir], { encoding: 'utf8' }));
  const byKind = (a: Manifest, b: Manifest) => keyOf(a).localeCompare(keyOf(b));
  expect(kustomize(dir).toSorted(byKind)).toEqual(theirs.toSorted(byKind));
});

function keyOf({ kind, metadata }: Manifest): string {
  return `${kind} ${metadata.name}`;
}

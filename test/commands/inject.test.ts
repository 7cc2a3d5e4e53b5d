import { writeFileSync } from 'node:fs';
import { afterEach, expect, test, vi } from 'vitest';
import { type InjectOptions, runInject } from '../../src/commands/inject.ts';
import { parseManifests } from '../../src/node/files/manifests.ts';
import { tempDir } from '../support/temp-dir.ts';

const POD = 'kind: Pod\nspec: { containers: [{ name: main }, { name: fluentd }] }\n';
const path = tempDir();
afterEach(() => void vi.restoreAllMocks());

const printedOf = (...texts: readonly string[]) => printedWith({ image: 'image' }, texts);

/** The output of `posidle inject`. */
async function printedWith(options: InjectOptions, texts: readonly string[]) {
  const files = texts.map((text, index) => {
    const file = path(index === 0 ? 'pod.yaml' : `${index}.yaml`);
    writeFileSync(file, text);
    return file;
  });
  const [file = ''] = files;
  const printed = { stdout: '', stderr: '' };
  for (const stream of ['stdout', 'stderr'] as const)
    vi.spyOn(process[stream], 'write').mockImplementation((text) => {
      printed[stream] += text;
      return true;
    });
  const code = await runInject(files, options);
  vi.restoreAllMocks();
  const [manifest] = parseManifests(printed.stdout);
  return {
    code,
    stdout: printed.stdout,
    document: JSON.stringify(manifest?.document),
    stderr: printed.stderr.replace(file, 'pod.yaml'),
  };
}

test.each([
  ['of its usual name', POD, {}],
  ['of the name that the user gives', POD.replace('fluentd', 'count-agent'), { container: 'count-agent' }],
])(
  'the manifest of a Pod with a Fluentd %s goes to stdout, and nothing to stderr',
  async (_, pod, options) => {
    const { code, document, stderr } = await printedWith({ image: 'image', ...options }, [pod]);
    expect([code, document, stderr]).toEqual([0, expect.stringContaining('"name":"posidle"'), '']);
  },
);

test('the reason why a Pod stays as it is goes to stderr, and the exit code is 3 if all do', async () => {
  const { code, document, stderr } = await printedOf(
    'kind: Pod\nmetadata: { name: p }\nspec: { containers: [{ name: main }] }\n',
  );
  expect(code).toBe(3);
  expect(document).not.toContain('posidle');
  expect(stderr).toBe(
    'posidle: pod.yaml: Pod p stays as it is: no container or native sidecar is named fluentd or emr-container-fluentd. The annotation posidle/container names another one, and so does --container\n',
  );
});

test('Pods that stay as they are for one reason are one line, which names ten and counts the others', async () => {
  const pods = Array.from(
    { length: 13 },
    (_, at) => `kind: Pod\nmetadata: { name: p${at} }\nspec: { containers: [{ name: main }] }\n`,
  );
  const { code, stderr } = await printedOf(pods.join('---\n'));
  expect(code).toBe(3);
  expect(stderr).toMatch(
    /^posidle: pod.yaml: Pod p0, .*Pod p9 and 3 more stay as they are: no container .*\n$/,
  );
});

test('a file without a Pod goes through, beside one that has one and alone', async () => {
  const config = 'kind: ConfigMap\nmetadata: { name: c }\n';
  const { code, document, stderr } = await printedOf(config, POD);
  expect([code, document, stderr]).toEqual([0, expect.stringContaining('"ConfigMap"'), '']);
  const alone = await printedOf(config);
  expect([alone.code, alone.stdout]).toEqual([3, config]);
  expect(alone.stderr).toMatch(/^posidle: pod.yaml: no Pod is described here/);
});

test('an image that no registry has is told, if something was changed', async () => {
  const told = 'posidle: posidle:unbundled is in no registry. Use --image REGISTRY/posidle:unbundled\n';
  expect((await printedWith({}, [POD])).stderr).toBe(told);
  expect((await printedWith({}, ['kind: Pod\nspec: { containers: [{}] }\n'])).stderr).not.toContain('image');
});

test('a path at which no file has a Pod is named', async () => {
  const app = 'kind: App\nspec: { template: {} }\n';
  const { code, stderr } = await printedWith({ path: 'spec.templat' }, [app]);
  expect([code, stderr]).toEqual([3, expect.stringContaining(' and at spec.templat in other')]);
});

test('a document that stays as it is keeps its comments and its quotes', async () => {
  const config = 'kind: ConfigMap # theirs\ndata: { "a": "2026" }\n';
  const { stdout } = await printedOf(`${config}---\n${POD}`);
  expect(stdout.slice(0, config.length + 14)).toBe(`${config}---\nkind: Pod\n`);
});

test('a template of Helm is told from broken YAML', async () => {
  await expect(printedOf('kind: Pod\nspec: {{ .Values.spec }}\n')).rejects.toThrow(
    /helm template … \| posidle inject -$/,
  );
});

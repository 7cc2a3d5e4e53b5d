import { writeFileSync } from 'node:fs';
import { afterEach, expect, test, vi } from 'vitest';
import { runInject } from '../../src/commands/inject.ts';
import { parseManifests } from '../../src/node/files/manifests.ts';
import { tempDir } from '../support/temp-dir.ts';

const path = tempDir();
afterEach(() => void vi.restoreAllMocks());

/** The output of `posidle inject` for a Pod. */
async function printedFor(spec: string) {
  const file = path('pod.yaml');
  writeFileSync(file, `kind: Pod\nmetadata: { name: p }\nspec: ${spec}\n`);
  const printed = { stdout: '', stderr: '' };
  for (const stream of ['stdout', 'stderr'] as const)
    vi.spyOn(process[stream], 'write').mockImplementation((text) => {
      printed[stream] += text;
      return true;
    });
  const code = await runInject([file], 'image');
  vi.restoreAllMocks();
  const [manifest] = parseManifests(printed.stdout);
  return {
    code,
    document: JSON.stringify(manifest?.document),
    stderr: printed.stderr.replace(file, 'pod.yaml'),
  };
}

test('the manifest goes to stdout, and nothing to stderr', async () => {
  const { code, document, stderr } = await printedFor('{ containers: [{ name: main }, { name: fluentd }] }');
  expect(code).toBe(0);
  expect(document).toContain('"name":"posidle"');
  expect(stderr).toBe('');
});

test('the reason why a Pod stays as it is goes to stderr, and the exit code is 3 if all do', async () => {
  const { code, document, stderr } = await printedFor('{ containers: [{ name: main }] }');
  expect(code).toBe(3);
  expect(document).not.toContain('posidle');
  expect(stderr).toBe(
    'posidle: pod.yaml: Pod p stays as it is: no container or native sidecar is named fluentd or emr-container-fluentd. The annotation posidle/container names another one\n',
  );
});

test('a template of Helm is told from broken YAML', async () => {
  await expect(printedFor('{{ .Values.spec }}')).rejects.toThrow(/helm template … \| posidle inject -$/);
});

test('a warning about a Pod that is changed goes to stderr', async () => {
  const { document, stderr } = await printedFor(`
    initContainers:
      - { name: writer, restartPolicy: Always, volumeMounts: [{ name: logs }] }
      - { name: fluentd, restartPolicy: Always, volumeMounts: [{ name: logs }] }
    containers: [{ name: main }]`);
  expect(document).toContain('"name":"posidle"');
  expect(stderr).toBe(
    'posidle: pod.yaml: Pod p: sidecar writer ends after fluentd: nobody reads its last lines. In initContainers, list it after fluentd\n',
  );
});

test('a Pod whose user is written in YAML as root gets containers that may be root', async () => {
  const { document } = await printedFor(
    '{ securityContext: { runAsUser: 0 }, containers: [{ name: main }, { name: fluentd }] }',
  );
  expect(document.match(/"runAsNonRoot":"false"/g)).toHaveLength(2);
});

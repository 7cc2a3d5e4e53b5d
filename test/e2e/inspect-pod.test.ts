import { chmodSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { delimiter } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { CLI, startPosidle } from '../support/posidle.ts';
import { tempDir } from '../support/temp-dir.ts';

const at = tempDir();

beforeEach(() => symlinkSync(CLI, at('kubectl-posidle')));

/** A kubectl that notes its words, gives this Pod, and runs here what it should run in a container. */
function kubectl(pod: object, get = `cat ${at('pod.json')}`): void {
  writeFileSync(at('words'), '');
  writeFileSync(at('pod.json'), JSON.stringify({ metadata: {}, status: { phase: 'Running' }, ...pod }));
  const script = `#!/bin/sh
printf '%s\\n' "$*" >>${at('words')}
case " $* " in *' get '*) ${get}; exit ;; esac
while [ "$1" != -- ]; do shift; done
shift
exec "$@"
`;
  writeFileSync(at('kubectl'), script);
  chmodSync(at('kubectl'), 0o755);
}

async function plugin(...words: readonly string[]) {
  const env = { ...process.env, PATH: `${at()}${delimiter}${process.env['PATH']}` };
  const run = startPosidle(words, { env, wrapper: [process.execPath, at('kubectl-posidle')] });
  const code = await run.exited;
  return { code, stderr: run.stderr(), words: readFileSync(at('words'), 'utf8') };
}

const named = (...names: readonly string[]) => names.map((name) => ({ name }));
const INJECTED = { spec: { initContainers: named('fluentd', 'posidle'), containers: named('main') } };

test('kubectl posidle inspect POD asks the witness from the container of posidle', async () => {
  kubectl(INJECTED);
  const { words } = await plugin('inspect', 'job-x', '-n', 'batch', '--wait', '5m');
  expect(words).toMatch(/^--namespace=batch get pod job-x -o json\n/);
  expect(words).toMatch(/^--namespace=batch exec job-x -c posidle -- sh -c /m);
  expect(words).toMatch(
    / posidle inspect --witness=\/posidle --interval=1000ms --wait=300000ms --json=false$/m,
  );
});

test.each([
  ['of its usual name', {}, 'fluentd'],
  ['that the annotation names', { annotations: { 'posidle/container': 'logs' } }, 'logs'],
])(
  'without a container posidle it looks from that of Fluentd %s, and says if posidle is not there',
  async (_, metadata, name) => {
    kubectl({ metadata, spec: { containers: named('main', 'fluentd', 'logs') } });
    const { code, stderr, words } = await plugin('inspect', 'job-x', '--json');
    expect(words).toMatch(new RegExp(`^exec job-x -c ${name} -- `, 'm'));
    expect(words).not.toContain('--witness');
    expect(code).toBe(127);
    expect(stderr).toMatch(
      /^posidle: there is no posidle in this container\. Look into it from a debug container/,
    );
  },
);

test.each([
  [
    'is over',
    { ...INJECTED, status: { phase: 'Succeeded' } },
    /job-x has ended\. Its outcome: kubectl logs job-x -c posidle/,
  ],
  [
    'has no Fluentd',
    { spec: { containers: named('main') } },
    /job-x has no container of these names: posidle, fluentd, /,
  ],
])('says so if the Pod %s', async (_, pod, said) => {
  kubectl(pod);
  const { code, stderr } = await plugin('inspect', 'job-x');
  expect(code).toBe(1);
  expect(stderr).toMatch(said);
});

test('says how to find the Pods of a Job', async () => {
  kubectl(INJECTED);
  const { code, stderr } = await plugin('inspect', 'job/x');
  expect(stderr).toContain(
    'job/x: name a Pod, without a slash. The Pods of a Job: kubectl get pods -l job-name=NAME',
  );
  expect(code).toBe(2);
});

test('names the rights that it needs, beside what kubectl says', async () => {
  kubectl({}, "echo 'Error from server (Forbidden)' >&2; exit 1");
  const { code, stderr } = await plugin('inspect', 'job-x');
  expect(stderr).toBe(
    'Error from server (Forbidden)\nposidle: kubectl did not show job-x. It needs the rights to get pods, and to create pods/exec\n',
  );
  expect(code).toBe(1);
});

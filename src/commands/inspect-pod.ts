import { spawnSync } from 'node:child_process';
import { FLUENTD_NAMES } from '../core/inject/not-found.ts';
import { SHARED_DIR } from '../core/witness/load.ts';
import { inWords } from '../node/files/in-words.ts';
import { CommandError, UsageError } from '../tasks/usage-error.ts';
import type { InspectArgs } from './options/inspect-options.ts';

const FAILED = 1;
/** posidle of the image, of an init container, or of a ConfigMap. */
const IN_CONTAINER = `for posidle in /opt/posidle/posidle /posidle/posidle; do [ -x "$posidle" ] && exec "$posidle" "$@"; done
[ -e /opt/posidle/posidle.cjs ] && exec node /opt/posidle/posidle.cjs "$@"
echo 'posidle: there is no posidle in this container. Look into it from a debug container (kubectl debug)' >&2; exit 127`;

/** `kubectl posidle inspect POD`: inspects from within the Pod, as far as kubectl may. Resolves to the exit code. */
export async function runInPod([name, ...others]: readonly string[], args: InspectArgs): Promise<number> {
  if (name === undefined || others.length > 0)
    throw new UsageError('inspect: name one Pod: kubectl posidle inspect POD');
  if (name.includes('/'))
    throw new UsageError(
      `inspect: ${name}: name a Pod, without a slash. The Pods of a Job: kubectl get pods -l job-name=NAME`,
    );
  const { context, namespace, interval, wait, witness, ...rest } = args;
  const where = optionWords({ context, namespace });
  const container = containerIn(name, [...where, 'get', 'pod', name, '-o', 'json']);
  const dir = witness ?? (container === 'posidle' ? SHARED_DIR : undefined);
  const terminal = process.stdin.isTTY && process.stdout.isTTY ? ['-it'] : [];
  const shell = ['exec', ...terminal, name, '-c', container, '--', 'sh', '-c', IN_CONTAINER, 'posidle'];
  const words = optionWords({
    ...{ witness: dir, interval: `${interval}ms`, wait: wait === undefined ? wait : `${wait}ms` },
    ...{ 'pos-file': rest['pos-file'], 'fluent-conf': rest['fluent-conf'], root: rest.root },
    ...{ follow: rest.follow, json: rest.json, 'max-lag': rest['max-lag'] },
  });
  return kubectl([...where, ...shell, 'inspect', ...words], 'inherit').status ?? FAILED;
}

function optionWords(values: Readonly<Record<string, unknown>>): readonly string[] {
  return Object.entries(values).flatMap(([name, value]) =>
    value === undefined ? [] : [value].flat().map((one) => `--${name}=${one}`),
  );
}

/** The container of posidle, else that of Fluentd, which may have posidle in it. */
function containerIn(name: string, words: readonly string[]): string {
  const { status: code, stdout } = kubectl(words, 'pipe');
  if (code !== 0)
    throw new CommandError(
      `kubectl did not show ${name}. It needs the rights to get pods, and to create pods/exec`,
      FAILED,
    );
  const { metadata, spec, status } = JSON.parse(stdout);
  if (status.phase === 'Succeeded' || status.phase === 'Failed')
    throw new CommandError(
      `${name} has ended. Its outcome: kubectl logs ${name} -c posidle --tail=1`,
      FAILED,
    );
  const there = [...(spec.initContainers ?? []), ...spec.containers].map((one) => one.name);
  const wanted = ['posidle', metadata.annotations?.['posidle/container'], ...FLUENTD_NAMES];
  const container = wanted.find((one) => there.includes(one));
  if (container !== undefined) return container;
  const names = ['posidle', ...FLUENTD_NAMES].join(', ');
  throw new CommandError(`${name} has no container of these names: ${names}`, FAILED);
}

function kubectl(words: readonly string[], stdout: 'pipe' | 'inherit') {
  const done = spawnSync('kubectl', words, {
    stdio: ['inherit', stdout, 'inherit'],
    encoding: 'utf8',
    maxBuffer: 16 * 1_024 ** 2,
  });
  if (done.error !== undefined)
    throw new CommandError(`kubectl cannot be started: ${inWords(done.error)}`, FAILED);
  return done;
}

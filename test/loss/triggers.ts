import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadWitness, witnessIn } from '../support/real-fluentd.ts';
import {
  beside,
  container,
  firstProcess,
  fluentdCommand,
  posidleCommand,
  quote,
  type Sidecar,
} from './container.ts';
import { seconds } from './plan.ts';
import type { Pod } from './pod.ts';

/** As the outcome names them. */
export type TriggerName = 'quiet' | 'done-file' | 'done-process' | 'http' | 'SIGTERM';

/** Starts Fluentd and posidle, which learns of main's end by one trigger. */
type StartWith = (pod: Pod, flags: readonly string[]) => Sidecar;

/** The whole drain of a burst must fit; a Pod's terminationGracePeriodSeconds has to be as long. */
const GRACE = '300s';

const watch = (pod: Pod, flags: readonly string[]) =>
  posidleCommand('watch', '--log-format', 'json', '--witness', witnessIn(pod.dir), ...flags);

const watchBeside = (pod: Pod, flags: readonly string[]) =>
  beside(pod, watch(pod, flags), loadWitness(pod.dir));

const onQuiet: StartWith = (pod, flags) =>
  watchBeside(pod, [...flags, '--quiet', seconds(pod.plan.waits.window)]);

const onDoneFile: StartWith = (pod, flags) => watchBeside(pod, [...flags, '--done-file', pod.marker]);

/** Main's process stands in the same PID namespace, and ends when the marker is made. */
const onDoneProcess: StartWith = (pod, flags) => {
  const main = join(pod.dir, 'main.sh');
  writeFileSync(main, `while [ ! -e ${quote(pod.marker)} ]; do sleep 0.05; done\n`);
  const watcher = watch(pod, [...flags, '--done-process', '^sh \\S+/main\\.sh$']);
  return beside(pod, `sh ${quote(main)} &\n${watcher}`, loadWitness(pod.dir));
};

const onHttp: StartWith = (pod, flags) => ({
  ...watchBeside(pod, [...flags, '--listen', `127.0.0.1:${pod.listenPort}`, '--quit-token', 'none']),
  mainEnded: async () => {
    const answer = await fetch(`http://127.0.0.1:${pod.listenPort}/quitquitquit`, { method: 'POST' });
    if (answer.status !== 202) throw new Error(`/quitquitquit answered ${answer.status}`);
  },
});

/** A native sidecar: posidle is the container's first process and Fluentd's parent, and the kubelet sends SIGTERM. */
const onSigterm: StartWith = (pod, flags) => {
  const options = ['--log-format', 'json', ...flags, '--quiet', 'off', '--grace', GRACE];
  const run = `${posidleCommand('run', ...options, '--')} ${fluentdCommand(pod)}`;
  const sidecar = container(pod, `exec ${run} >>${quote(pod.fluentdLog)}`);
  return { ...sidecar, mainEnded: async () => void process.kill(await firstProcess(sidecar), 'SIGTERM') };
};

export const triggers: Readonly<Record<TriggerName, StartWith>> = {
  quiet: onQuiet,
  'done-file': onDoneFile,
  'done-process': onDoneProcess,
  http: onHttp,
  SIGTERM: onSigterm,
};

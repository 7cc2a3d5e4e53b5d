import { join } from 'node:path';
import { expect } from 'vitest';
import { program } from '../pods/bundle.ts';
import { configMapsIn, type Manifest, type PodSpec, specIn } from '../pods/kubernetes.ts';
import { kustomize } from '../pods/kustomize.ts';
import type { Destination } from './destination.ts';
import { type Acts, play, type Report } from './play.ts';

export const LINES = 20;
/** Seconds from main's end to the Pod's: what hangs takes the grace period, a minute or two. */
export const PATIENCE = 45;

export function playPlacement(
  overlay: string,
  change?: (pod: PodSpec) => void,
  acts?: Acts,
): Promise<Report> {
  return playThese(kustomize(join('docker/kubernetes', overlay)), change, acts);
}

/** It changes the manifests. */
export function playThese(
  manifests: readonly Manifest[],
  change: (pod: PodSpec) => void = () => undefined,
  acts: Acts = {},
): Promise<Report> {
  const spec = specIn(manifests);
  hurry(spec);
  change(spec);
  // A Job counts the restarts of a container, too, and deletes the Pod when there were too many.
  if (spec.restartPolicy === 'OnFailure') {
    for (const { kind, spec: job } of manifests)
      if (kind === 'Job') Object.assign(job as object, { backoffLimit: 2 });
  }
  return play(
    (destination) => {
      for (const conf of configMapsIn(manifests)) sendTo(destination, conf.data);
      return [...manifests, program()];
    },
    () => acts,
  );
}

/** The destination of fluent.conf, stdout, is one outside the Pod. */
function sendTo({ endpoint }: Destination, data: Record<string, string>): void {
  const conf = data['fluent.conf'];
  const http = `@type http\n  endpoint ${endpoint}\n  <format>\n    @type json\n  </format>`;
  if (conf !== undefined) data['fluent.conf'] = conf.replace('@type stdout', http);
}

/** The manifests wait for minutes; the tests wait for seconds. */
function hurry(pod: PodSpec): void {
  const faster: Readonly<Record<string, string>> = { EVERY: '0.2', INTERVAL: '4' };
  for (const { env = [] } of [...(pod.initContainers ?? []), ...pod.containers]) {
    for (const variable of env) variable.value = faster[variable.name] ?? variable.value;
  }
}

/** All of main's lines, and the outcome in the termination message of posidle's container. */
export function expectDelivered(report: Report, trigger: string, container = 'posidle'): void {
  const { [container]: posidle, main, fluentd } = report.containers;
  const message = posidle?.message ?? '';
  const outcome = message.startsWith('{') ? JSON.parse(message) : `${message}\n${posidle?.log}`;
  expect(outcome).toMatchObject({ outcome: 'drained', trigger });
  expect(report.lines.size).toBe(LINES);
  expect(posidle?.code).toBe(0);
  expect(main?.code).toBe(0);
  expect(fluentd).toMatchObject({ code: 0, restarts: 0 });
  expect(report.phase).toBe('Succeeded');
  expect(report.tail).toBeLessThan(PATIENCE);
}

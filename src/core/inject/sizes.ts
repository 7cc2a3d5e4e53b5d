/** The requests and limits of posidle's containers. */

import { type Fields, fields, text } from './fields.ts';
import type { Pod } from './pod.ts';

const POWERS = ['', 'K', 'M', 'G', 'T', 'P', 'E'];
const PAIR = /^(requests|limits)\.(cpu|memory|ephemeral-storage)=[0-9]+(\.[0-9]+)?(m|[kMGTPE]|[KMGTPE]i)?$/;

/** As in `requests.cpu=10m`. */
type Size = readonly [kind: string, key: string, value: string];

/** A quota may ask for each request and limit that Fluentd states. The API server takes a limit for a missing request. */
export function sizesOf({ spec, notes, fluentd }: Pod): readonly Size[] {
  const stated = fields(fluentd?.resources);
  const [requests, limits] = [fields(stated.requests), fields(stated.limits)];
  const own = pairsIn(notes).map(sizeIn);
  if (spec.resources) return own;
  const storage = 'ephemeral-storage';
  const usual: Size[] = [
    ['requests', 'cpu', '10m'],
    ['requests', 'memory', '16Mi'],
    ['limits', 'memory', '64Mi'],
  ];
  if ('cpu' in limits) usual.push(['limits', 'cpu', '500m']);
  if (storage in requests || storage in limits) usual.push(['requests', storage, '16Mi']);
  if (storage in limits) usual.push(['limits', storage, '64Mi']);
  return [...usual.filter(([kind, key]) => !own.some((one) => one[0] === kind && one[1] === key)), ...own];
}

export function resourcesOf(sizes: readonly Size[]): Fields {
  const of = (wanted: string) =>
    Object.fromEntries(sizes.filter(([kind]) => kind === wanted).map(([, key, value]) => [key, value]));
  return { requests: of('requests'), limits: of('limits') };
}

export function mistakeInSizes(pod: Pod): string | undefined {
  if (!pairsIn(pod.notes).every((pair) => PAIR.test(pair)))
    return 'the annotation posidle/resources is no list like "requests.cpu=20m limits.cpu=1 limits.memory=128Mi"';
  const sizes = sizesOf(pod);
  const isAbove = ([kind, key, value]: Size) =>
    kind === 'requests' &&
    sizes.some((one) => one[0] === 'limits' && one[1] === key && amountIn(value) > amountIn(one[2]));
  return sizes.some(isAbove)
    ? 'the annotation posidle/resources makes a request greater than its limit'
    : undefined;
}

function pairsIn(notes: Fields): readonly string[] {
  return text(notes['posidle/resources'])
    .split(' ')
    .filter((pair) => pair !== '');
}

function sizeIn(pair: string): Size {
  const [name = '', value = ''] = pair.split('=');
  const [kind = '', key = ''] = name.split('.');
  return [kind, key, value];
}

function amountIn(quantity: string): number {
  const [, number, unit = '', binary] = /^([\d.]+)(.?)(i?)$/.exec(quantity) ?? [];
  if (unit === 'm') return Number(number) / 1000;
  return Number(number) * (binary ? 1024 : 1000) ** POWERS.indexOf(unit.toUpperCase());
}

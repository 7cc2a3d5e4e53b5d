/** The requests and limits of posidle's containers. */

import { type Fields, fields, text } from './fields.ts';
import type { Pod } from './pod.ts';

const POWERS = ['', 'K', 'M', 'G', 'T', 'P', 'E'];
const PAIR = /^(requests|limits)\.(cpu|memory|ephemeral-storage)=[0-9]+(\.[0-9]+)?(m|[kMGTPE]|[KMGTPE]i)?$/;

/** As in `cpu: 10m`. */
type Sizes = Readonly<Record<string, string>>;

/** A quota may ask for each request and limit that Fluentd states. The API server takes a limit for a missing request. */
export function sizesOf({ spec, notes, fluentd }: Pod): { readonly requests: Sizes; readonly limits: Sizes } {
  const own = { requests: sizesIn(notes, 'requests'), limits: sizesIn(notes, 'limits') };
  if (spec.resources) return own;
  const stated = fields(fluentd?.resources);
  const [requests, limits] = [fields(stated.requests), fields(stated.limits)];
  const storage = 'ephemeral-storage';
  return {
    requests: {
      ...{ cpu: '10m', memory: '16Mi' },
      ...((storage in requests || storage in limits) && { [storage]: '16Mi' }),
      ...own.requests,
    },
    limits: {
      memory: '64Mi',
      ...('cpu' in limits && { cpu: '500m' }),
      ...(storage in limits && { [storage]: '64Mi' }),
      ...own.limits,
    },
  };
}

export function mistakeInSizes(pod: Pod): string | undefined {
  const pairs = pairsIn(pod.notes);
  const names = new Set(pairs.map((pair) => pair.split('=')[0]));
  if (names.size < pairs.length || !pairs.every((pair) => PAIR.test(pair)))
    return 'the annotation posidle/resources is no list like "requests.cpu=20m limits.cpu=1 limits.memory=128Mi"';
  const { requests, limits } = sizesOf(pod);
  const isAbove = ([key, value]: [string, string]) => amountIn(value) > amountIn(limits[key] ?? '');
  return Object.entries(requests).some(isAbove)
    ? 'the annotation posidle/resources makes a request greater than its limit'
    : undefined;
}

function pairsIn(notes: Fields): readonly string[] {
  return text(notes['posidle/resources'])
    .split(' ')
    .filter((pair) => pair !== '');
}

function sizesIn(notes: Fields, kind: string): Sizes {
  const pairs = pairsIn(notes).filter((pair) => pair.startsWith(`${kind}.`));
  return Object.fromEntries(pairs.map((pair) => pair.slice(kind.length + 1).split('=')));
}

/** NaN if there is none. */
function amountIn(quantity: string): number {
  const [, number, unit = '', binary] = /^([\d.]+)(.?)(i?)$/.exec(quantity) ?? [];
  if (unit === 'm') return Number(number) / 1000;
  return Number(number) * (binary ? 1024 : 1000) ** POWERS.indexOf(unit.toUpperCase());
}

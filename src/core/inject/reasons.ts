/** What keeps posidle from changing a Pod, and what keeps a changed one from ending. */

import { type Fields, fields, list, text } from './fields.ts';
import type { Pod } from './pod.ts';
import { mistakeInSizes } from './sizes.ts';

/** They run on when main has ended. */
const PROXIES = ['istio-proxy', 'linkerd-proxy'];
const OURS = /^\/posidle(\/|$)/;

/** Why posidle leaves a Pod unchanged: the change must not make it invalid or delay main. */
export function reasonAgainst(pod: Pod): string | undefined {
  const { spec, notes, name, fluentd, isPlain, containers, inits } = pod;
  if ('posidle/injected' in notes) return 'posidle is there already';
  if (fluentd === undefined)
    return `no container or native sidecar is named ${name}. The annotation posidle/container names another one, and so does --container${likelyIn(pod)}`;
  if (/fluent-bit/.test(text(fluentd.image)))
    return `${name} is Fluent Bit, by its image, and posidle is for Fluentd`;
  if (text(fields(spec.os).name) === 'windows') return 'it is for Windows';
  if (isPlain && containers.length === 1)
    return `${name} is the only container, and posidle is for a Fluentd beside main`;
  if (isPlain && (fields(fluentd.lifecycle).postStart || fluentd.startupProbe))
    return `${name} has a postStart hook or a startupProbe. As a native sidecar it would hold up the main container`;
  if (isPlain && (fluentd.restartPolicy || fluentd.restartPolicyRules))
    return `${name} has a restartPolicy of its own`;
  if ([...containers, ...inits].some((one) => ['posidle', 'posidle-install'].includes(text(one.name))))
    return `a container is named posidle or posidle-install. posidle may stand only directly behind ${name}, where this change puts it`;
  if (list(spec.volumes).some((one) => text(one.name) === 'posidle')) return 'a volume is named posidle';
  const places = [...list(fluentd.volumeMounts), ...list(fluentd.volumeDevices)];
  if (places.some(({ mountPath, devicePath }) => OURS.test(text(mountPath ?? devicePath))))
    return `${name} has a volume at /posidle`;
  if (list(fluentd.env).some((one) => text(one.name) === 'RUBYOPT' && one.valueFrom))
    return `${name} takes RUBYOPT from elsewhere (valueFrom). Write its value in the manifest`;
  const strict = notes['posidle/strict'];
  if (strict !== undefined && !['true', 'false'].includes(text(strict)))
    return 'the annotation posidle/strict is neither "true" nor "false"';
  return mistakeInSizes(pod);
}

function likelyIn({ containers, inits }: Pod): string {
  const likely = [...containers, ...inits].find(({ image }) => /fluentd/.test(text(image)));
  return likely === undefined ? '' : `: ${text(likely.name)}?`;
}

export function endlessIn({ spec, containers, fluentd }: Pod): readonly string[] {
  const ends = ['Never', 'OnFailure'].includes(text(spec.restartPolicy));
  const isEndless = (one: Fields) =>
    one !== fluentd && (PROXIES.includes(text(one.name)) || /fluentd/i.test(`${one.name} ${one.image}`));
  return containers
    .filter((one) => ends && isEndless(one))
    .map(({ name }) => `container ${text(name)} keeps the Pod from ending. Make it a native sidecar`);
}

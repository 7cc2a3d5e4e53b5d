import { fields, list, text } from './fields.ts';

export const FLUENTD_NAMES: readonly string[] = ['fluentd', 'emr-container-fluentd'];
/** Pod templates stand in front of it. */
const CONTAINERS = /\.spec\.(initContainers|containers)$/;

/** Where Fluentd stands in a document in which posidle found no Pod, and the remedy; undefined if it is not there. */
export function fluentdBeside(document: unknown, otherPath?: readonly string[]): string | undefined {
  const [place] = fluentdsIn(document, []);
  if (place === undefined) return undefined;
  const remedy = CONTAINERS.test(place)
    ? `use --path ${place.replace(CONTAINERS, '')}`
    : 'posidle changes only Pod templates, at --path';
  const typo = otherPath === undefined ? '' : `no Pod template is at ${otherPath.join('.')}. `;
  return `${typo}Fluentd is at ${place}: ${remedy}`;
}

/** The paths of the lists in which a container has Fluentd's name. */
function fluentdsIn(part: unknown, path: readonly string[]): readonly string[] {
  if (!Array.isArray(part))
    return Object.entries(fields(part)).flatMap(([key, one]) => fluentdsIn(one, [...path, key]));
  const isThere = list(part).some(({ name, image }) => FLUENTD_NAMES.includes(text(name)) && image);
  return isThere ? [path.join('.')] : part.flatMap((one) => fluentdsIn(one, path));
}

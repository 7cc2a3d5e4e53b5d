import { fields, list, text } from './fields.ts';

export const FLUENTD_NAMES: readonly string[] = ['fluentd', 'emr-container-fluentd'];
/** Pod templates stand in front of it. */
const CONTAINERS = /\.spec\.(initContainers|containers)$/;

/** Where Fluentd stands in a document in which posidle found no Pod, and the remedy; undefined if it is not there. */
export function fluentdBeside(
  document: unknown,
  names: readonly string[],
  otherPath?: readonly string[],
): string | undefined {
  const [place] = fluentdsIn(document, names, []);
  if (place === undefined) return undefined;
  const remedy = CONTAINERS.test(place)
    ? `: use --path ${place.replace(CONTAINERS, '')}`
    : ', in no Pod template: let its Pods have the label posidle: "true"';
  const typo = otherPath === undefined ? '' : `no Pod template is at ${otherPath.join('.')}. `;
  return `${typo}Fluentd is at ${place}${remedy}`;
}

/** The paths of the lists in which a container has one of Fluentd's names. */
function fluentdsIn(part: unknown, names: readonly string[], path: readonly string[]): readonly string[] {
  if (!Array.isArray(part))
    return Object.entries(fields(part)).flatMap(([key, one]) => fluentdsIn(one, names, [...path, key]));
  const isThere = list(part).some(({ name, image }) => names.includes(text(name)) && image);
  return isThere ? [path.join('.')] : part.flatMap((one) => fluentdsIn(one, names, path));
}

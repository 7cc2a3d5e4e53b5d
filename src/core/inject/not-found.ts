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
    : `, in no Pod template: let its Pods have the label posidle: "true"${nameNote(names)}`;
  const typo = otherPath === undefined ? '' : `no Pod template is at ${otherPath.join('.')}. `;
  return `${typo}Fluentd is at ${place}${remedy}`;
}

function nameNote(names: readonly string[]): string {
  return names === FLUENTD_NAMES ? '' : ` and the annotation posidle/container: ${names.join()}`;
}

/** The paths of the lists in which a container has one of Fluentd's names, and posidle is not yet. */
function fluentdsIn(part: unknown, names: readonly string[], path: readonly string[]): readonly string[] {
  if (!Array.isArray(part))
    return Object.entries(fields(part)).flatMap(([key, one]) => fluentdsIn(one, names, [...path, key]));
  const has = (all: readonly string[]) =>
    list(part).some(({ name, image }) => all.includes(text(name)) && image);
  const isThere = has(names) && !has(['posidle']);
  return isThere ? [path.join('.')] : part.flatMap((one) => fluentdsIn(one, names, path));
}

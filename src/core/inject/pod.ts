import { type Fields, fields, list, text } from './fields.ts';

/** A Pod or its template, and the parts of it that the change depends on. */
export interface Pod {
  readonly metadata: Fields;
  readonly spec: Fields;
  readonly notes: Fields;
  /** If no container is Fluentd: all names that were looked for. */
  readonly name: string;
  readonly fluentd: Fields | undefined;
  readonly isPlain: boolean;
  readonly containers: readonly Fields[];
  readonly inits: readonly Fields[];
}

export function podOf(part: unknown, usual: readonly string[]): Pod {
  const [metadata, spec] = [fields(fields(part).metadata), fields(fields(part).spec)];
  const notes = fields(metadata.annotations);
  const [containers, inits] = [list(spec.containers), list(spec.initContainers)];
  const names = 'posidle/container' in notes ? [text(notes['posidle/container'])] : usual;
  const candidates = [...containers, ...inits.filter(isSidecar)];
  const byName = (name: string) => candidates.find((one) => text(one.name) === name);
  const name = names.find(byName) ?? names.join(' or ');
  const isPlain = containers.some((one) => text(one.name) === name);
  return { metadata, spec, notes, name, fluentd: byName(name), isPlain, containers, inits };
}

export function isSidecar(one: Fields): boolean {
  return text(one.restartPolicy) === 'Always';
}

import { readFileSync } from 'node:fs';
import type { Manifest } from './kubernetes.ts';

/** Type → field → its type, with `!` where the field must be there. */
type Types = Readonly<Record<string, Readonly<Record<string, string>>>>;

const { types } = JSON.parse(readFileSync(new URL('kubernetes-1.34.json', import.meta.url), 'utf8')) as {
  types: Types;
};

/** What the Kubernetes API would refuse or ignore in a manifest: unknown and missing fields, wrong types. */
export function faultsIn(manifest: Manifest): string[] {
  if (types[manifest.kind] === undefined) return [`${manifest.kind}: no such kind`];
  return faultsOf(manifest, manifest.kind, manifest.kind);
}

function faultsOf(value: unknown, type: string, at: string): string[] {
  const [, outer, inner = ''] = /^(Array|Map)<(.*)>$/.exec(type) ?? [];
  if (outer === 'Array') {
    if (!Array.isArray(value)) return [`${at}: no list`];
    return value.flatMap((item, index) => faultsOf(item, inner, `${at}[${index}]`));
  }
  if (!outer && types[type] === undefined) return isScalar(value, type) ? [] : [`${at}: no ${type}`];
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return [`${at}: no ${type}`];
  if (outer === 'Map') {
    return Object.entries(value).flatMap(([key, item]) => faultsOf(item, inner, `${at}.${key}`));
  }
  return faultsOfFields(value as Record<string, unknown>, type, at);
}

function faultsOfFields(value: Record<string, unknown>, type: string, at: string): string[] {
  const fields = types[type] ?? {};
  const missing = Object.keys(fields).filter(
    (name) => fields[name]?.endsWith('!') && value[name] === undefined,
  );
  const faults = Object.entries(value).flatMap(([name, item]) => {
    const fieldType = fields[name];
    if (fieldType === undefined) return [`${at}.${name}: no such field`];
    return faultsOf(item, fieldType.replace('!', ''), `${at}.${name}`);
  });
  return [...missing.map((name) => `${at}.${name}: missing`), ...faults];
}

function isScalar(value: unknown, type: string): boolean {
  if (type === 'IntOrString') return typeof value === 'string' || Number.isInteger(value);
  if (type === 'Date') return typeof value === 'string';
  return type === 'any' || typeof value === type;
}

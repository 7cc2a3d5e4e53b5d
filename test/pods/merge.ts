type Value = unknown;
type Fields = Record<string, Value>;

/** patchMergeKey of the lists that a Pod has (k8s.io/api/core/v1/types.go). */
const MERGE_KEYS: Readonly<Record<string, string>> = {
  containers: 'name',
  initContainers: 'name',
  volumes: 'name',
  env: 'name',
  volumeMounts: 'mountPath',
};

/** A strategic merge, as kustomize's patches do it: fields are replaced, lists with a merge key are merged by it. */
export function merge(base: Value, patch: Value, field = ''): Value {
  if (isFields(base) && isFields(patch)) return mergeFields(base, patch);
  const key = MERGE_KEYS[field];
  if (key !== undefined && Array.isArray(patch))
    return mergeList((base ?? []) as Fields[], patch as Fields[], key);
  return patch;
}

function mergeFields(base: Fields, patch: Fields): Fields {
  const merged = { ...base };
  for (const [name, value] of Object.entries(patch)) merged[name] = merge(base[name], value, name);
  return merged;
}

/** Items of the patch come first, in its order: kustomize api/filters/patchstrategicmerge, MergeOptionsListPrepend. */
function mergeList(base: readonly Fields[], patch: readonly Fields[], key: string): Fields[] {
  const like = (item: Fields) => (other: Fields) => other[key] === item[key];
  const named = patch
    .filter(({ $patch }) => $patch !== 'delete')
    .map((item) => mergeFields(base.find(like(item)) ?? {}, item));
  return [...named, ...base.filter((item) => !patch.some(like(item)))];
}

function isFields(value: Value): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

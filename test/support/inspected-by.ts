import type { FakeHost } from './fake-host.ts';

/** What inspect is to look at, in a fake world. */
export function inspectedBy(host: FakeHost, posFiles: readonly string[]) {
  return {
    ...{ raw: false, root: undefined, conf: undefined, warnings: [] },
    posFiles: async () => posFiles.map((path) => ({ name: path, place: path })),
    followed: async () => [],
    read: (place: string) => host.readFile(place),
    open: async () => () => undefined,
  };
}

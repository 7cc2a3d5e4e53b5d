import { type ConfFacts, confFacts } from '../../src/core/fluent-conf/facts.ts';
import { fluentConf } from '../../src/core/fluent-conf/fluent-conf.ts';
import { parseConf } from '../../src/core/fluent-conf/syntax.ts';
import type { FakeHost } from './fake-host.ts';

/** What inspect is to look at, in a fake world. */
export function inspectedBy(host: FakeHost, posFiles: readonly string[], conf?: ConfFacts) {
  return {
    ...{ raw: false, root: undefined, conf, warnings: [] },
    posFiles: async () => posFiles.map((path) => ({ name: path, place: path })),
    followed: async () => [],
    read: (place: string) => host.readFile(place),
    open: async () => () => undefined,
  };
}

/** A fluent.conf whose buffer, when it is full, makes in_tail wait or refuses lines. */
export function confWith(overflow: 'block' | 'throw_exception'): ConfFacts {
  const source = '<source>\n@type tail\npath /var/log/*.log\ntag app\n</source>\n';
  const match = `<match app>\n@type http\n<buffer>\noverflow_action ${overflow}\n</buffer>\n</match>\n`;
  return confFacts(fluentConf(parseConf(source + match, '/f.conf').root, { env: {}, hostname: '' }));
}

import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { beforeEach, describe, expect, it } from 'vitest';
import { loadFluentConf } from '../../src/node/files/conf-files.ts';
import { listFollowed, rubyGlob } from '../../src/node/files/walk.ts';
import { skipFor } from '../support/needs.ts';
import { missingFluentd, OLDEST_AND_NEWEST, startFluentd } from '../support/real-fluentd.ts';
import { tempDir } from '../support/temp-dir.ts';
import { until } from '../support/until.ts';

const at = tempDir();

beforeEach(() => {
  for (const name of ['logs/sub/deep', 'logs/.hidden', 'real']) mkdirSync(at(name), { recursive: true });
  const names =
    'a.log b.log skip.log sub/c.log sub/deep/d.log .hidden/e.log .f.log g.txt {h,i}.log static?.log';
  for (const name of names.split(' ')) writeFileSync(at('logs', name), 'line\n');
  symlinkSync('a.log', at('logs/link.log'));
  symlinkSync('../real', at('logs/linked'));
  writeFileSync(at('real/j.log'), 'line\n');
});

const store = (id: string, buffer: string) => `
  <store>
    @type forward
    ${id}
    <server>
      host 127.0.0.1
      port 9
    </server>
    <buffer tag>
      ${buffer}
    </buffer>
  </store>`;

/** A buffer whose place follows from root_dir and @id, one in a directory, one with a name of its own, one like a glob. */
const stores = (type: string) => [
  store(`@id ${type}_out`, `@type ${type}`),
  store('', `@type ${type}\n      path ${at()}/buffers/${type}`),
  store('', `@type ${type}\n      path ${at()}/buffers/${type}-named.*`),
  store('', `@type ${type}\n      path ${at()}/buffers/\${tag}-[${type}]?`),
];

const conf = () => `
<system>
  root_dir ${at()}/root
</system>
<source>
  @type tail
  tag app
  path ${at()}/logs/**/*.log, ${at()}/logs/linked/*.log,${at()}/logs/static?.log, ${at()}/logs/%Y-missing.log
  exclude_path ["${at()}/logs/sk*", "${at()}/logs/b.log"]
  pos_file ${at()}/app.pos
  read_from_head true
  <parse>
    @type none
  </parse>
</source>
<match app>
  @type copy${[...stores('file'), ...stores('file_single')].join('')}
</match>
`;

const entries = () =>
  readFileSync(at('app.pos'), 'utf8')
    .split('\n')
    .flatMap((line) => (line === '' ? [] : [line.split('\t')[0]]))
    .sort();

for (const version of OLDEST_AND_NEWEST) {
  describe(`beside a running Fluentd ${version}`, () => {
    skipFor(missingFluentd(version));
    it('posidle lists the files and finds the chunks that Fluentd has', async () => {
      const fluentd = startFluentd({ version, dir: at(), conf: conf() });
      try {
        await fluentd.ready;
        await until('entries in the pos file', () => entries().length > 0, { within: 10_000 });
        const { sources, buffers, problems } = await loadFluentConf(at('fluent.conf'), {
          ruby: { env: {}, hostname: '' },
        });
        expect(problems).toEqual([]);
        const [source] = sources;
        const files = source && (await listFollowed(source, { instant: Date.now(), minutesEast: 0 }));
        expect(files?.map(({ path }) => path)).toEqual(entries());
        expect(buffers).toHaveLength(8);
        for (const { chunkGlobs } of buffers) {
          const chunks = (await Promise.all(chunkGlobs.map((glob) => rubyGlob(glob)))).flat();
          const found = chunks.filter(
            (path) => /\.(b|q)[0-9a-f]+\.[^/]*$/.test(path) && !path.endsWith('.meta'),
          );
          expect.soft(found, chunkGlobs.join(' ')).toHaveLength(1);
        }
      } finally {
        await fluentd.stop();
      }
    });
  });
}

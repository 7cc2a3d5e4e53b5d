import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { type FluentConf, fluentConf } from '../../src/core/fluent-conf/fluent-conf.ts';
import { evaluate, type RubyContext } from '../../src/core/fluent-conf/ruby.ts';
import { parseConf } from '../../src/core/fluent-conf/syntax.ts';
import { expandDates } from '../../src/core/in-tail/path-dates.ts';
import { loadFluentConf, readConfTree } from '../../src/node/files/conf-files.ts';
import { listFollowed, rubyGlob } from '../../src/node/files/walk.ts';
import { compared } from '../fuzz/compare.ts';
import { FluentdReader } from '../fuzz/fluentd-reader.ts';
import { mutated } from '../fuzz/mutated.ts';
import { CONF_WORDS, SECTIONS } from '../fuzz/targets.ts';
import { RUNS } from '../support/arbitraries.ts';
import { skipFor } from '../support/needs.ts';
import {
  missingFluentd,
  NEWEST,
  OLDEST_AND_NEWEST,
  requireFluentd,
  startFluentd,
} from '../support/real-fluentd.ts';
import { askRuby } from '../support/ruby-oracle.ts';
import { tempDir } from '../support/temp-dir.ts';
import { until } from '../support/until.ts';

const FIXTURES = 'fixtures/conf';
const ruby: RubyContext = { env: process.env, hostname: hostname(), workerId: 0 };
const inDirectory = (directory: string) =>
  readdirSync(directory)
    .filter((name) => name.endsWith('.conf'))
    .map((name) => join(directory, name));

for (const version of OLDEST_AND_NEWEST) {
  describe(`the configuration as Fluentd ${version} reads it`, () => {
    skipFor(missingFluentd(version));
    // Ruby inside of JSON is plain text to 1.14.
    const isNew = version !== '1.14.6';

    afterAll(() => rmSync('/tmp/posidle-fixture-root', { recursive: true, force: true }));

    it('is the tree that posidle reads', async () => {
      const { env } = requireFluentd(version);
      const examples = join(String(env.GEM_HOME), 'gems', `fluentd-${version}`, 'example');
      const files = [...inDirectory(FIXTURES), ...inDirectory(examples)];
      const readable = files.filter((file) => isNew || !file.includes('json-with-ruby'));
      const fluentd = new FluentdReader(version);
      for (const file of readable) {
        expect.soft(await compared(fluentd, readFileSync(file)), file).toBe('equal');
        expect.soft((await readConfTree(file, { ruby })).problems, file).toEqual([]);
      }
      fluentd.end();
    });

    // The trees are compared on both: the oldest dumps only an old style, and Ruby.
    const always = ['old-style', 'docs-config'];
    const ofNewest = ['daemonset', 'json-with-ruby', 'docs-tail', 'docs-tail-newer', 'docs-buffer'];

    it.each([...always, ...(version === NEWEST ? ofNewest : [])])(
      'says in its own dump of %s.conf what posidle reads from the file',
      async (name) => {
        const { command, env } = requireFluentd(version);
        const file = join(FIXTURES, `${name}.conf`);
        const args = ['--dry-run', '-c', file];
        const { stdout } = spawnSync(command, args, { env, encoding: 'utf8' });
        expect(stdout).toContain('</ROOT>');
        const ours = await loadFluentConf(file, { ruby });
        const theirs = dumpedIn(stdout);
        expect(facts(ours)).toEqual(known(facts(theirs), ours));
      },
    );
  });
}

describe(`the include directory of Fluentd ${NEWEST}`, () => {
  skipFor(missingFluentd(NEWEST));
  const inDir = tempDir();

  const source = (name: string) =>
    `<source>\n@type tail\ntag a\npath /${name}.log\npos_file /${name}.pos\n<parse>\n@type none\n</parse>\n</source>\n`;
  const put = (name: string, text = source(name)) => {
    mkdirSync(dirname(inDir(name)), { recursive: true });
    writeFileSync(inDir(name), text);
  };

  it.each([
    ['a directory', 'conf.d', 7],
    ['a directory with a slash', 'conf.d/', 7],
    ['the directory of included files', 'included', 3],
    ['a directory that is missing', 'missing', 3],
    ['a directory below a file', 'fluent.conf/x', 3],
  ])('adds the same files for posidle if it is %s', async (_, name, count) => {
    for (const file of ['b.conf', 'b/c.conf', 'x/y.conf', 'skipped.txt']) put(`conf.d/${file}`);
    put('elsewhere/f.conf');
    put('g.conf');
    symlinkSync('../elsewhere', inDir('conf.d/linked'));
    symlinkSync('../g.conf', inDir('conf.d/g.conf'));
    put('included/a.conf', '@include inner/*.conf\n');
    put('included/inner/i.conf');
    put('included/j.conf');
    put('fluent.conf', `@include included/*.conf\n${source('main')}`);
    const env = { FLUENT_CONF_INCLUDE_DIR: `${inDir()}/${name}` };
    const { command, env: own } = requireFluentd(NEWEST);
    const args = ['--dry-run', '-c', inDir('fluent.conf')];
    const { stdout } = spawnSync(command, args, { env: { ...own, ...env }, encoding: 'utf8' });
    const includeDir = '/etc/fluent/conf.d';
    const ours = await loadFluentConf(inDir('fluent.conf'), { ruby: { ...ruby, env }, includeDir });
    expect(ours.problems).toEqual([]);
    const names = (conf: FluentConf) => conf.sources.map(({ posFile }) => posFile).sort();
    expect(names(ours), stdout).toEqual(names(dumpedIn(stdout)));
    expect(ours.sources).toHaveLength(count);
  });
});

/** Fluentd's own result. It ignores values that Fluentd's dump does not quote, as in `<record>`. */
function dumpedIn(output: string): FluentConf {
  const inJson = /^\{.*<ROOT>.*\}$/m.exec(output)?.[0];
  const printed = inJson === undefined ? output : (JSON.parse(inJson) as { message: string }).message;
  const [, dump = ''] = /<ROOT>\n([\s\S]*)^<\/ROOT>/m.exec(printed) ?? [];
  return fluentConf(parseConf(dump, 'dump'), { env: {}, hostname: '' });
}

function facts({ sources, buffers, backupGlobs }: FluentConf) {
  // A dump has what Ruby gave in a name, and the buffers that an output has without a <buffer>.
  const onDisk = buffers.flatMap(({ chunkGlobs }) => (chunkGlobs.length === 0 ? [] : [chunkGlobs]));
  return { sources, onDisk, backupGlobs };
}

/** Leaves out what posidle said that it cannot evaluate. */
function known(theirs: ReturnType<typeof facts>, ours: FluentConf) {
  const isUnknown = (name: string) =>
    [...ours.problems, ...ours.hidden].some((text) => text.includes(`: ${name} is`));
  const sources = theirs.sources.map((source) => ({
    ...source,
    ...(isUnknown('path') ? { paths: [] } : {}),
    ...(isUnknown('pos_file') ? { posFile: undefined } : {}),
  }));
  return { ...theirs, sources };
}

it(`a mutated configuration is read as by Fluentd ${NEWEST}, or has a problem`, async (context) => {
  requireFluentd(NEWEST, context);
  const fluentd = new FluentdReader(NEWEST);
  // Fluentd reads one character after the other.
  const inputs = mutated(SECTIONS, { words: CONF_WORDS, largest: 1_024 });
  const isSame = fc.asyncProperty(inputs, async (input) => {
    expect(await compared(fluentd, input)).not.toMatch(/^different/);
  });
  await fc.assert(isSame, { numRuns: Number(process.env.FUZZ_RUNS ?? 1_000), ...RUNS });
  fluentd.end();
});

const PARTS = ['', '/', '//', 'a', '/a', 'a/', '//a//', 'a//b'].map((text) => `'${text}'`);
const VALUES = [
  ...["'/x'", '24', '0', 'use_default', '"x#"', `"#{ENV['UNSET']}/#{7}#"`],
  ...["ENV['SET']", "ENV['UNSET']", "ENV['EMPTY']", 'ENV.fetch("SET")', "ENV.fetch('UNSET')"],
  ...["ENV.fetch('SET', 'd')", "ENV.fetch('UNSET', '')", "ENV.fetch('SET', use_default)"],
  ...[`ENV.fetch('UNSET', ENV['UNSET'] || "/d")`, `ENV.fetch( 'SET' , ENV.fetch("UNSET") )`],
  ...["File.join('/var/log/', ENV.fetch('EMPTY', 'x'), 'a.pos')"],
];
const pairsOf = (all: readonly string[]) => all.flatMap((a) => all.map((b) => [a, b] as const));
const EXPRESSIONS: readonly string[] = [
  ...VALUES,
  ...PARTS.map((part) => `File.join(${part})`),
  ...pairsOf(PARTS).flatMap(([a, b]) => PARTS.map((c) => `File.join(${a}, ${b}, ${c})`)),
  ...pairsOf(VALUES).flatMap(([a, b]) => [`File.join(${a}, ${b})`, `${a} || ${b}`, `"#{${a}}-#{ ${b} }"`]),
];

/** Three Rubies: 3.1, 3.4 and 3.3. */
describe.each(['1.18.0', '1.19.4', NEWEST])('the Ruby of Fluentd %s', (version) => {
  const at = tempDir();

  beforeEach(() => {
    for (const name of ['a/b/.hid', '.dot', 'real/sub', 'a-b']) mkdirSync(at(name), { recursive: true });
    const names =
      'x.log .hidden.log [z].log a/x.log a/b/x.log a/b/.hid/x.log .dot/x.log real/sub/x.log c}d.log c{d.log s*r.log é.log a-b/x.log 7.log';
    for (const name of names.split(' ')) writeFileSync(at(name), '');
    symlinkSync('real', at('lnk'));
    symlinkSync('x.log', at('l.log'));
    symlinkSync('nowhere', at('broken.log'));
  });

  it('expands a glob to the paths that posidle finds', async (context) => {
    const { env } = requireFluentd(version, context);
    const patterns = (
      '*.log **/x.log **/*.log */x.log **.log ** a//b/*.log .//*.log ./*.log c}*.log c{d* {a,real/sub}/x.log ' +
      '[[]z*.log [x* s\\*r* ?.log ??.log .*.log [.]h* [^a].log [!a].log [a-z].log [z-a].log {x,l}* {x,}*.log ' +
      '*/sub/x.log **/sub/x.log lnk/**/x.log lnk*/**/x.log **/**/x.log a/**x.log */../x.log x.log/* []x].log ' +
      '[x-].log [a-].log [é].log {a}/x* {}x* {a,{real,lnk}/sub}/*.log *.{log,txt} **/a/**/x.log a/**/b/*.log ' +
      '**//x.log */ [^.]* [0-9].log nothing/*.log a[-]b/*.log a[/]x.log {,a/}x.* *{x,7}.log **/*/x.log \\*.log .dot/*.log .*/x.log'
    ).split(' ');
    const found = askRuby(
      'puts JSON.dump(INPUT.map { |p| Dir.glob(p).uniq.sort })',
      patterns.map((pattern) => `${at()}/${pattern}`),
      env,
    ) as string[][];
    for (const [index, pattern] of patterns.entries()) {
      const ours = (await rubyGlob(`${at()}/${pattern}`)).sort();
      const theirs = found[index]?.filter((path) => !path.endsWith('/') && !path.endsWith('broken.log'));
      expect
        .soft(
          ours.filter((path) => !path.endsWith('/')),
          pattern,
        )
        .toEqual(theirs);
    }
  });

  it('gives to the Ruby that posidle evaluates the same text, or refuses it, too', (context) => {
    // Fluentd's use_default is an exception (lib/fluent/config/literal_parser.rb).
    const program = `
      ENV.update('SET' => 'set', 'EMPTY' => '')
      def use_default = throw(:default)
      def given(code) = catch(:default) { "#{eval(code)}" }
      puts JSON.dump(INPUT.map { |code| given(code) rescue 'refused' })`;
    const env = { SET: 'set', EMPTY: '' };
    const theirs = askRuby(program, EXPRESSIONS, requireFluentd(version, context).env) as (string | null)[];
    const ours = EXPRESSIONS.map((code) => evaluate([{ ruby: code }], { env, hostname: '' }));
    const isText = (value: unknown) => typeof value === 'string' || value === null;
    expect(EXPRESSIONS.map((code, index) => [code, isText(ours[index]) ? ours[index] : 'refused'])).toEqual(
      EXPRESSIONS.map((code, index) => [code, theirs[index]]),
    );
  });

  it('fills in dates as posidle does', (context) => {
    const patterns = (
      '%Y %y %m %B %b %d %j %H %M %S %a %F %T %% %-Y %-y %-m %-d %-j %-H %-M %-S %F%T ' +
      '%. %%Y %%%Y /logs/%Y/%m/%d/%H-*.log'
    ).split(' ');
    const instants = [
      0, 1_767_323_045_123, 1_735_517_106_000, 1_609_632_000_000, 1_720_000_000_000, 951_782_400_000,
    ];
    const zones = [
      '+09:00',
      '-0330',
      '+00',
      'Asia/Tokyo',
      'America/St_Johns',
      'Europe/Berlin',
      'Pacific/Chatham',
    ];
    const cases = instants.flatMap((at) =>
      zones.flatMap((zone) => patterns.map((pattern) => ({ at, zone, pattern }))),
    );
    const program = `
      require 'time'
      require 'tzinfo'
      puts JSON.dump(INPUT.map { |c|
        t = Time.at(c['at'] / 1000, c['at'] % 1000, :millisecond)
        zone = c['zone']
        east = zone =~ /^[+-]/ ? Time.zone_offset(zone) : TZInfo::Timezone.get(zone).period_for_utc(t).utc_total_offset
        t.localtime(east).strftime(c['pattern'])
      })`;
    const theirs = askRuby(program, cases, requireFluentd(version, context).env) as string[];
    const ours = cases.map(({ at, zone, pattern }) => expandDates(pattern, at, zone));
    expect(cases.map((one, index) => ({ ...one, text: ours[index] }))).toEqual(
      cases.map((one, index) => ({ ...one, text: theirs[index] })),
    );
  });
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

describe('beside a running Fluentd', () => {
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

  it.for(OLDEST_AND_NEWEST)(
    'posidle lists the files and finds the chunks that Fluentd %s has',
    async (version, context) => {
      requireFluentd(version, context);
      const fluentd = startFluentd({ version, dir: at(), conf: conf(), args: ['--no-supervisor'] });
      try {
        await fluentd.ready;
        await until('entries in the pos file', () => entries().length > 0, { within: 10_000 });
        const { sources, buffers, problems } = await loadFluentConf(at('fluent.conf'), {
          ruby: { env: {}, hostname: '' },
        });
        expect(problems).toEqual([]);
        const [source] = sources;
        const found = source && (await listFollowed(source, { instant: Date.now(), minutesEast: 0 }));
        expect(found?.files.map(({ path }) => path)).toEqual(entries());
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
    },
  );
});

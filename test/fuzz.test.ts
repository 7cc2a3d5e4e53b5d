import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { fluentConf, fluentConfFromDump } from '../src/core/fluent-conf/fluent-conf.ts';
import { parseConf } from '../src/core/fluent-conf/syntax.ts';
import { fluentdArguments, shapingArguments, withInlineConfig } from '../src/core/fluentd/command-line.ts';
import { parseAgentIdentity, parsePlugins } from '../src/core/fluentd/monitor-agent.ts';
import { isFluentd, isWorker } from '../src/core/fluentd/processes.ts';
import { nameMatcher, parseGlob } from '../src/core/in-tail/path-glob.ts';
import { EntryRows } from '../src/core/pos-file/entry-rows.ts';
import { parsePosFile } from '../src/core/pos-file/pos-file.ts';
import { loadFluentConf } from '../src/node/files/conf-files.ts';
import { Proc } from '../src/node/processes/proc.ts';
import { cpuSeconds } from './support/cpu-seconds.ts';

/** Whatever is parsed may come from anybody: no text may end posidle, hold it up or fill its memory. */
const RUNS = Number(process.env.FUZZ_RUNS ?? 200);
const SEED = Number(
  process.env.FUZZ_SEED ?? (process.env.CI === undefined ? Date.now() % 2 ** 31 : 20_261_121),
);
/** Of CPU, so that a busy machine does no harm; a quarter of a MiB takes a hundredth of it. */
const MOST_SECONDS = 3;
const MOST_MIB = 512;
const LARGEST = 256 * 1024;

const ruby = { env: { HOME: '/root' }, hostname: 'host' };
const utf8 = (bytes: Buffer) => bytes.toString('utf8');
let dir = '';
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'posidle-fuzz-'));
  mkdirSync(join(dir, '1'));
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const confs = textsIn('fixtures/conf', /\.conf$/);
const yamls = [
  ...textsIn('fixtures/conf', /\.ya?ml$/),
  'config:\n  - source: &a\n      $type: tail\n      path: !fluent/s "#{ENV[\'X\']}/*"\n',
];
const COMMANDS = [
  'ruby /usr/bin/fluentd -c f.conf -i "<source>" --workers 3',
  'supervisor:x',
  'fluentd --under-supervisor',
];
const ANSWERS = [
  '{"plugins":[{"plugin_id":"object:1","plugin_category":"output","type":"file","output_plugin":true,"buffer_queue_length":0,"retry_count":1,"write_count":2,"retry":{"steps":1}}]}',
  '{"pid":1,"ppid":2,"config_path":"/f"}',
];

describe('a mutated', () => {
  fuzz('pos file is read the same by both readers', textsIn('fixtures/pos', /\.pos$/), (bytes) => {
    const rows = new EntryRows(bytes);
    // What stands behind another entry in its line only the inspector shows: Fluentd itself does not read it at its start.
    const isMerged = rows.unparsable.some(({ merged }) => merged);
    if (isMerged) expect(rows.count).toBeGreaterThan(parsePosFile(bytes).entries.length);
    else expect(rows.count).toBe(parsePosFile(bytes).entries.length);
  });
  fuzz('fluent.conf', [...confs, readFileSync('fluent.conf.example', 'latin1')], (bytes) => {
    fluentConf(parseConf(utf8(bytes), 'f').root, ruby);
  });
  fuzz(
    'dump of a configuration',
    confs.map((text) => `<ROOT>\n${text}</ROOT>\n`),
    (bytes) => {
      fluentConfFromDump(utf8(bytes));
    },
  );
  fuzz('YAML configuration', yamls, async (bytes) => {
    writeFileSync(join(dir, 'f.yaml'), bytes);
    await loadFluentConf('/f.yaml', { ruby, placeOf: (name) => dir + name });
  });
  fuzz('command line', COMMANDS, (bytes) => {
    // No more is kept of one (proc.ts).
    const argv = utf8(bytes.subarray(0, 4_096)).split(' ');
    isFluentd(argv);
    isWorker(argv);
    fluentdArguments(argv);
    shapingArguments(argv);
    withInlineConfig(argv, 'x');
  });
  fuzz('answer of a monitor_agent', ANSWERS, (bytes) => {
    parsePlugins(utf8(bytes));
    parseAgentIdentity(utf8(bytes));
  });
  fuzz('/proc/PID/stat and cmdline', [readFileSync('/proc/self/stat', 'latin1')], (bytes, random) => {
    const cut = Math.floor(random() * bytes.length);
    writeFileSync(join(dir, '1/stat'), bytes.subarray(0, cut));
    writeFileSync(join(dir, '1/cmdline'), bytes.subarray(cut));
    new Proc(dir).list();
  });
  fuzz(
    'pattern is refused, or matches in linear time',
    ['/var/log/**/{a,b}[0-9]*.log', '/a/\\*?-*-*'],
    (bytes) => {
      const pattern = utf8(bytes);
      nameMatcher(pattern.slice(0, 4_096))('a-'.repeat(128));
      expect(orRefused(() => parseGlob(pattern))).toBe(true);
    },
  );
});

type Random = () => number;

function fuzz(
  what: string,
  seeds: readonly string[],
  parse: (bytes: Buffer, random: Random) => unknown,
): void {
  test(what, { timeout: 60_000 + RUNS * 200 }, async () => {
    for (let run = 0; run < RUNS; run += 1) {
      const random = randomFrom(SEED + run);
      const bytes = mutated(Buffer.from(one(seeds, random), 'latin1'), random);
      const before = process.memoryUsage().rss;
      try {
        const first = await cpuSeconds(() => parse(bytes, random));
        // The garbage of a thousand texts may be collected meanwhile: slow is what is slow again.
        const seconds = first < MOST_SECONDS ? first : await cpuSeconds(() => parse(bytes, random));
        expect(seconds, 'seconds of CPU').toBeLessThan(MOST_SECONDS);
        expect((process.memoryUsage().rss - before) / 2 ** 20, 'MiB').toBeLessThan(MOST_MIB);
      } catch (error) {
        const text = JSON.stringify(bytes.toString('latin1').slice(0, 2_000));
        throw new Error(`FUZZ_SEED=${SEED + run} FUZZ_RUNS=1: ${text}`, { cause: error });
      }
    }
  });
}

function orRefused(parse: () => unknown): boolean {
  try {
    parse();
    return true;
  } catch (error) {
    return /^a pattern has more than/.test((error as Error).message);
  }
}

/** What the languages at hand are made of; the last ones break encodings. */
const WORDS = [
  ...[
    '<',
    '>',
    '</',
    '<source>',
    '</source>',
    '<match **>',
    '@include f\n',
    '@type tail\n',
    '#{',
    '}',
    '"',
    "'",
    '\\',
    '#{ENV["X"]}',
  ],
  ...[
    '[',
    ']',
    '{',
    '}',
    ',',
    ':',
    '- ',
    '  ',
    '&a ',
    '*a ',
    '<<: *a\n',
    '!include ',
    '!fluent/json ',
    '|\n',
    '$type: ',
  ],
  ...[
    '*',
    '?',
    '**/',
    '{a,b}',
    '[!a-z]',
    '/',
    '..',
    '%Y',
    ' ',
    '\t',
    '\n',
    '\r\n',
    '0',
    'ffffffffffffffff',
    '1e999',
    '-1',
  ],
  ...[
    '--workers',
    '-c',
    '-i',
    '=',
    '(',
    ')',
    '"retry":',
    'null',
    '\0',
    '\xff',
    '\xc3',
    '\xed\xa0\x80',
    '\xef\xbb\xbf',
  ],
];

function mutated(seed: Buffer, random: Random): Buffer {
  let bytes = seed;
  for (let left = 1 + Math.floor(random() * 6); left > 0; left -= 1) bytes = changed(bytes, random);
  return bytes.subarray(0, LARGEST);
}

/** Takes a piece away, doubles it, puts another one in, or says one thing very often. */
function changed(bytes: Buffer, random: Random): Buffer {
  const at = Math.floor(random() * (bytes.length + 1));
  const end = Math.min(bytes.length, at + Math.floor(random() * 64));
  const word = Buffer.from(one(WORDS, random), 'latin1');
  const piece = random() < 0.5 ? word : Buffer.concat([word, bytes.subarray(at, end)]);
  const often = Math.floor(LARGEST / (2 * piece.length));
  const put = [
    () => Buffer.alloc(0),
    () => bytes.subarray(at, end),
    () => word,
    () =>
      Buffer.concat(
        Array.from({ length: Math.floor(random() * 20) }, () => Buffer.from(one(WORDS, random), 'latin1')),
      ),
    () => Buffer.concat(Array.from({ length: Math.floor(random() ** 4 * often) }, () => piece)),
  ];
  return Buffer.concat([
    bytes.subarray(0, at),
    one(put, random)(),
    bytes.subarray(random() < 0.5 ? at : end),
  ]);
}

function one<T>(all: readonly T[], random: Random): T {
  return all[Math.floor(random() * all.length)] as T;
}

/** mulberry32 */
function randomFrom(seed: number): Random {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

function textsIn(directory: string, which: RegExp): readonly string[] {
  const names = readdirSync(directory).filter((name) => which.test(name));
  return names.map((name) => readFileSync(join(directory, name), 'latin1'));
}

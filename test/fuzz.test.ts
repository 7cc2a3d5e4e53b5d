import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { fluentdArguments } from '../src/core/fluentd/command-line.ts';
import { isFluentd, isWorker } from '../src/core/fluentd/processes.ts';
import { nameMatcher, parseGlob } from '../src/core/in-tail/path-glob.ts';
import { parseAnswer, parseLastWord } from '../src/core/witness/answer.ts';
import { loadFluentConf } from '../src/node/files/conf-files.ts';
import { Proc } from '../src/node/processes/proc.ts';
import { TARGETS } from './fuzz/targets.ts';
import { cpuSeconds } from './support/cpu-seconds.ts';
import { mutated, one, type Random, randomFrom, textsIn } from './support/mutations.ts';
import { answer, holding, sight } from './support/said.ts';

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
  JSON.stringify(answer({ files: [sight()], outputs: [holding('a')] })),
  JSON.stringify({ v: 1, pid: 12, final: true, closed: [sight()] }),
];

describe('a mutated', () => {
  fuzz("pos file is read as by Fluentd's own pattern", TARGETS.pos.seeds, (bytes) => TARGETS.pos.read(bytes));
  fuzz('fluent.conf', TARGETS.conf.seeds, (bytes) => TARGETS.conf.read(bytes));
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
  });
  fuzz('answer of a witness, and its last word', ANSWERS, (bytes) => {
    parseAnswer(utf8(bytes));
    parseLastWord(utf8(bytes));
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

function fuzz(
  what: string,
  seeds: readonly string[],
  parse: (bytes: Buffer, random: Random) => unknown,
): void {
  test(what, { timeout: 60_000 + RUNS * 200 }, async () => {
    for (let run = 0; run < RUNS; run += 1) {
      const random = randomFrom(SEED + run);
      const bytes = mutated(Buffer.from(one(seeds, random), 'latin1'), random, { largest: LARGEST });
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

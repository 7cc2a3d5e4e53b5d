import { execFileSync } from 'node:child_process';
import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect } from 'vitest';
import { rubyOption } from '../../src/core/witness/load.ts';
import { writeWitness } from '../../src/node/witness/write-witness.ts';
import { blocksIn } from '../pods/readme.ts';
import { endOf, ONE_VERSION, onFluentd, test } from '../support/delivery.ts';
import type { Site } from '../support/delivery-site.ts';
import { memoryBuffer, renderConf, type Section, tail, toHttp } from '../support/fluentd-conf.ts';
import { needsRoot } from '../support/needs.ts';
import {
  CONTAINER,
  loading,
  POSIDLE,
  type PosidleOptions,
  type PosidleRun,
  startPosidle,
} from '../support/posidle.ts';
import { startFluentd } from '../support/real-fluentd.ts';
import { until } from '../support/until.ts';

/** Nothing flushes by itself. */
const LAZY = { flush_mode: 'interval', flush_interval: 300 };
const DRAINED = { outcome: 'drained', trigger: 'main-ended', doubts: { count: 0 } };

function fluentdIn(site: Site, version: string, dir: string, sections?: readonly Section[]) {
  const usual = [
    tail(site.log('*.log'), site.pos, { refresh_interval: '1s' }),
    toHttp(site.sink.port, memoryBuffer(LAZY)),
  ];
  const env = { RUBYOPT: rubyOption(dir), POSIDLE_DIR: dir, SERVERENGINE_SOCKETMANAGER_SOCK_DIR: site.dir };
  const conf = renderConf(sections ?? usual);
  return startFluentd({
    version,
    dir: site.dir,
    conf,
    witness: false,
    env,
    wrapper: CONTAINER,
  });
}

/** A directory that Fluentd and posidle share, with the witness in it. */
async function sharedDir(site: Site, name = 'posidle'): Promise<string> {
  const dir = join(site.dir, name);
  mkdirSync(dir);
  await writeWitness(dir);
  return dir;
}

/** As the preStop hook of posidle's container does. */
function podEnds(dir: string): void {
  writeFileSync(join(dir, 'ending'), '');
}

function drain(
  site: Site,
  dir: string,
  args: readonly string[] = [],
  options: PosidleOptions = {},
): PosidleRun {
  const grace = args.includes('--grace') ? [] : ['--grace', '60s'];
  const told = ['--termination-log', site.termination, '--log-format', 'json'];
  return startPosidle(['drain', '--witness', dir, ...grace, ...told, ...args], { cwd: site.dir, ...options });
}

/** Each outcome that docker/README shows: what main writes, the time that the Pod gives, and the exit code. */
const SAMPLES: readonly (readonly [outcome: string, lines: string, grace: string, code: number])[] = [
  ['drained', '{"message":"done"}\n'.repeat(20), '60s', 0],
  ['unproven', `${'{"message":"done"}\n'.repeat(20)}Killed\n`, '60s', 0],
  ['not-drained', '{"message":"done"}\n'.repeat(20), '6s', 3],
];

/** The last line of posidle's log in docker/README's sample, without its time. */
function shownLine(at: number): string {
  const line = blocksIn('docker/README.md', 'console')[0]?.split('\n')[at] ?? '';
  return line.slice('hh:mm:ss.mmm '.length);
}

/** Without what differs from run to run. */
function shapeOf(said: string): string {
  return said.replace(/\d+ ms\b/g, '1 s').replace(/\d+(\.\d+)?/g, 'N');
}

beforeEach(needsRoot);

onFluentd(ONE_VERSION, (version) => {
  describe('posidle drain', () => {
    test('in an ending Pod waits for a Fluentd that takes half a minute to start, and leaves it to the kubelet when all is sent', async ({
      site,
    }) => {
      const dir = await sharedDir(site);
      await site.write('app.log', 1_000);
      podEnds(dir);
      const posidle = drain(site, dir, ['--main-ended', '--grace', '120s']);
      await until('it still waits', () => /still waiting after [23]\d s/.test(posidle.stderr()), {
        within: 60_000,
      });
      const fluentd = fluentdIn(site, version, dir);
      const outcome = { ...DRAINED, end: 'left-to-kubelet' };
      expect(await endOf(site, posidle)).toMatchObject({ code: 0, lost: 0, outcome });
      expect(fluentd.process.exitCode).toBeNull();
    });

    test('waits for the next try of a Fluentd that ended while it loaded, and ends with an error if none comes', async ({
      site,
    }) => {
      const dir = await sharedDir(site);
      const go = site.log('../go');
      await site.write('app.log', 10);
      const type = `"#{sleep 0.1 until File.exist?('${go}')}htpp"`;
      const mistake = { name: 'match', arg: 'app', params: { '@type': type } };
      const first = fluentdIn(site, version, dir, [tail(site.log('*.log'), site.pos), mistake]);
      await until('it loads', () => existsSync(join(dir, 'lives')));
      const posidle = drain(site, dir, ['--main-ended']);
      await posidle.logged(/posidle can ask no witness of it/);
      writeFileSync(go, '');
      await first.exited;
      await posidle.logged(/no witness of a Fluentd is in/);
      fluentdIn(site, version, dir);
      expect(await endOf(site, posidle)).toMatchObject({ code: 0, lost: 0, outcome: DRAINED });
      const none = await sharedDir(site, 'none');
      execFileSync('mkfifo', [join(none, 'lives')]);
      const { code, outcome } = await endOf(site, drain(site, none, ['--main-ended', '--grace', '11s']));
      expect([code, outcome]).toMatchObject([4, { end: 'no-fluentd' }]);
    });

    test('says that nothing was read where no worker has started its inputs', async ({ site }) => {
      const dir = await sharedDir(site);
      await site.write('app.log', 10);
      const input = tail(site.log('*.log'), site.pos, {
        tag: `"#{sleep if ENV.key?('SERVERENGINE_WORKER_ID')}app"`,
      });
      fluentdIn(site, version, dir, [input, toHttp(site.sink.port, memoryBuffer(LAZY))]);
      await until('a worker loads', () => readdirSync(dir).some((name) => name.endsWith('.sock')));
      const told = await endOf(site, drain(site, dir, ['--main-ended', '--grace', '12s']));
      const outcome = { outcome: 'not-drained', left: { worst: [{ kind: 'unstarted' }] } };
      expect(told).toMatchObject({ code: 3, lost: 10, outcome });
    });

    test('counts the grace period from the start of Node, however long that takes', async ({ site }) => {
      const dir = await sharedDir(site);
      const slow = loading('Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2_500)');
      const wrapper = ['sh', '-c', `${slow} exec "$0" "$@"`, ...POSIDLE];
      const posidle = drain(site, dir, ['--main-ended', '--grace', '4s'], { wrapper });
      const { outcome } = await endOf(site, posidle);
      // It would be 2 s, half the grace period, if that counted from posidle's own start.
      expect(outcome.durationsMs.waiting).toBeLessThan(2_000);
    });

    test('runs nothing that main writes as a name or a line, shows it without harm, and doubts that main has ended where nobody says it', async ({
      site,
    }) => {
      const dir = await sharedDir(site);
      await fluentdIn(site, version, dir).ready;
      const touched = join(site.dir, 'touched');
      const name = `a$(touch ${touched.replaceAll('/', '\u2215')});\u001b[2J\u202e\`touch touched\`.log`;
      await site.write('app.log', 10);
      await site.write(name, 10);
      writeFileSync(site.log('-rf --version.log'), `$(touch ${touched})\u001b]0;x\u0007\n`);
      appendFileSync(site.log(name), 'no newline');
      const posidle = drain(site, dir);
      const { outcome } = await endOf(site, posidle);
      expect(outcome).toMatchObject({
        left: { count: 1, worst: [{ kind: 'unfinished' }] },
        doubts: { worst: [{ kind: 'main-may-run' }] },
      });
      expect(existsSync(touched)).toBe(false);
      const told = posidle.stderr() + readFileSync(site.termination, 'utf8');
      expect(['\u001b', '\u202e', '\u0007'].filter((char) => told.includes(char))).toEqual([]);
    });
  });
});

// Other versions word the message of in_tail otherwise.
onFluentd(['1.18.0'], (version) => {
  test.for(SAMPLES)('says of what is %s what docker/README shows', async (sample, { site }) => {
    const [outcome, lines, grace, exit] = sample;
    const at = SAMPLES.indexOf(sample);
    const dir = await sharedDir(site);
    const parse = { name: 'parse', params: { '@type': 'json' } };
    const input = tail(site.log('*.log'), site.pos, { refresh_interval: '1s' });
    const sections = [{ ...input, sections: [parse] }, toHttp(site.sink.port, memoryBuffer(LAZY))];
    await fluentdIn(site, version, dir, sections).ready;
    // Fluentd waits for the answer, also while it stops.
    if (outcome === 'not-drained') Object.assign(site.sink, { phase: 'refusing', delay: 60_000 });
    writeFileSync(site.log('job.log'), lines);
    await site.isRead('job.log');
    podEnds(dir);
    const posidle = drain(site, dir, ['--main-ended', '--grace', grace]);
    const { code, outcome: message } = await endOf(site, posidle);
    expect(code, JSON.stringify(message)).toBe(exit);
    const { level, msg } = posidle.log().at(-1) ?? {};
    expect(shapeOf(`${level} ${msg}`)).toBe(shapeOf(shownLine(at)));
    const shown = JSON.parse(blocksIn('docker/README.md', 'json')[at] ?? '{}') as object;
    const told = Object.keys(shown).map((name) => [name, message[name as keyof typeof message]]);
    expect(shapeOf(JSON.stringify(Object.fromEntries(told)))).toBe(shapeOf(JSON.stringify(shown)));
  });

  test('says without a witness what docker/README shows', async ({ site }) => {
    const dir = await sharedDir(site);
    const posidle = drain(site, dir, ['--main-ended', '--grace', '4s']);
    expect(await endOf(site, posidle)).toMatchObject({ code: 4 });
    const { level, msg } = posidle.log().at(-1) ?? {};
    expect(shapeOf(`${level} ${msg}`.replace(dir, '/posidle'))).toBe(shapeOf(shownLine(3)));
  });
});

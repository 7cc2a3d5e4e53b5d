import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished } from 'vitest';
import { rubyOption } from '../../src/core/witness/load.ts';
import { writeWitness } from '../../src/node/witness/write-witness.ts';
import { ONE_VERSION, onFluentd, test, VERSIONS_AND_OLDEST } from '../support/delivery.ts';
import type { Site } from '../support/delivery-site.ts';
import { memoryBuffer, renderConf, tail, toHttp } from '../support/fluentd-conf.ts';
import { type PosidleRun, startPosidle } from '../support/posidle.ts';
import { startFluentd } from '../support/real-fluentd.ts';
import { until } from '../support/until.ts';

/** Nothing flushes by itself. */
const LAZY = { flush_mode: 'interval', flush_interval: 300 };
const GATE = ['sh', 'docker/image/gate'] as const;
const DRAINED = { end: 'left-to-kubelet', outcome: 'drained', trigger: 'main-ended', doubts: { count: 0 } };
const DOUBTED = { outcome: 'unproven', trigger: 'hook', doubts: { worst: [{ kind: 'main-may-run' }] } };

function fluentdIn(site: Site, version: string, dir?: string) {
  const conf = renderConf([
    tail(site.log('*.log'), site.pos, { refresh_interval: '1s' }),
    toHttp(site.sink.port, memoryBuffer(LAZY)),
  ]);
  return startFluentd({
    version,
    dir: site.dir,
    conf,
    witness: false,
    env: dir === undefined ? {} : { RUBYOPT: rubyOption(dir), POSIDLE_DIR: dir },
  });
}

const NO_GATE = { kill: () => {}, podEnds: () => {}, mainEnds: async () => {} };

async function startGate(dir: string): Promise<typeof NO_GATE> {
  const env = { ...process.env, POSIDLE_DIR: dir, POSIDLE_TERMINATION_LOG: join(dir, 'word') };
  const gate = spawn(GATE[0], GATE.slice(1), { env, stdio: 'ignore', detached: true });
  const kill = () => void spawnSync('kill', ['-KILL', '--', `-${gate.pid}`]);
  onTestFinished(kill);
  await until('the gate is up', () => existsSync(join(dir, 'gate-lives')));
  return {
    kill,
    /** Does the work of the gate's own preStop hook. */
    podEnds: () => void spawnSync(GATE[0], [...GATE.slice(1), 'ending'], { env }),
    mainEnds: async () => {
      gate.kill('SIGTERM');
      await once(gate, 'exit');
    },
  };
}

/** A Fluentd with the witness, and a gate if it is asked for; main has written some lines. */
async function begin(site: Site, version: string, { lines = 100, hasGate = true } = {}) {
  const dir = await sharedDir(site);
  const fluentd = fluentdIn(site, version, dir);
  const gate = hasGate ? await startGate(dir) : NO_GATE;
  await fluentd.ready;
  await site.write('app.log', lines);
  return { dir, fluentd, ...gate };
}

/** A directory of Pod and hook, with the witness in it. */
async function sharedDir(site: Site): Promise<string> {
  const dir = join(site.dir, 'posidle');
  mkdirSync(dir);
  await writeWitness(dir);
  return dir;
}

function drain(site: Site, dir: string, ...args: readonly string[]): PosidleRun {
  const grace = args.includes('--grace') ? [] : ['--grace', '60s'];
  const told = ['--termination-log', site.termination, '--log-format', 'json'];
  const words = ['drain', '--witness', dir, ...grace, ...told, ...args];
  return startPosidle(words, { env: { ...process.env, RUBYOPT: rubyOption(dir) }, cwd: site.dir });
}

async function ended(site: Site, { exited, stderr }: PosidleRun) {
  const code = await exited;
  site.told = stderr();
  const outcome = JSON.parse(
    existsSync(site.termination) ? readFileSync(site.termination, 'utf8') : 'null',
  ) as object;
  return { code, outcome, lost: site.lines.written - site.delivered() };
}

onFluentd(VERSIONS_AND_OLDEST, (version) => {
  test('the hook waits for main by the gate, drains, and stops Fluentd', async ({ site }) => {
    const { dir, fluentd, podEnds, mainEnds } = await begin(site, version);
    const hook = drain(site, dir);
    podEnds();
    await site.isRead('app.log');
    await site.write('app.log', 1_000);
    await site.write('late.log', 500);
    await mainEnds();
    expect(await ended(site, hook)).toMatchObject({ code: 0, lost: 0, outcome: DRAINED });
    await fluentd.exited;
  });
});

onFluentd(ONE_VERSION, (version) => {
  describe('the hook', () => {
    test.for([
      ['drains at once where the caller knows that main has ended', '--main-ended', 0, DRAINED],
      ['drains without a gate, and proves nothing', '--no-strict', 0, DOUBTED],
      ['says by its exit code that nothing is proven, where that is wanted', '--strict', 4, DOUBTED],
    ] as const)('%s', async ([, flag, code, outcome], { site }) => {
      const { dir } = await begin(site, version, { lines: 1_000, hasGate: false });
      expect(await ended(site, drain(site, dir, flag))).toMatchObject({ code, lost: 0, outcome });
    });

    test('runs nothing that main writes as a name or a line, and shows it without harm', async ({ site }) => {
      const { dir } = await begin(site, version, { lines: 10, hasGate: false });
      const touched = join(site.dir, 'touched');
      const name = `a$(touch ${touched.replaceAll('/', '\u2215')});\u001b[2J\u202e\`touch touched\`.log`;
      await site.write(name, 10);
      writeFileSync(site.log('-rf --version.log'), `$(touch ${touched})\u001b]0;x\u0007\n`);
      appendFileSync(site.log(name), 'no newline');
      const hook = drain(site, dir, '--main-ended', '--no-complete-last-line');
      const { outcome } = await ended(site, hook);
      expect(outcome).toMatchObject({ left: { count: 1, worst: [{ kind: 'unfinished' }] } });
      expect(existsSync(touched)).toBe(false);
      const told = hook.stderr() + readFileSync(site.termination, 'utf8');
      expect(['\u001b', '\u202e', '\u0007'].filter((char) => told.includes(char))).toEqual([]);
    });

    test('continues if the gate dies, and says so', async ({ site }) => {
      const { dir, podEnds, kill } = await begin(site, version);
      const hook = drain(site, dir);
      podEnds();
      await site.isRead('app.log');
      kill();
      expect(await ended(site, hook)).toMatchObject({ code: 0, lost: 0, outcome: DOUBTED });
    });

    test('only flushes if the Pod runs on', async ({ site }) => {
      const { dir, fluentd } = await begin(site, version);
      await site.isRead('app.log');
      const hook = drain(site, dir);
      expect(await hook.exited).toBe(0);
      expect(hook.stderr()).toContain('only Fluentd is restarted');
      expect(readFileSync(site.termination, 'utf8')).toContain('only Fluentd is restarted');
      await until('the lines are there', () => site.delivered() === site.lines.written);
      expect(fluentd.process.exitCode).toBeNull();
    });

    test('waits for a Fluentd that is not up yet', async ({ site }) => {
      const dir = await sharedDir(site);
      const gate = await startGate(dir);
      await site.write('app.log', 100);
      const hook = drain(site, dir);
      gate.podEnds();
      await gate.mainEnds();
      fluentdIn(site, version, dir);
      expect(await ended(site, hook)).toMatchObject({ code: 0, lost: 0, outcome: DRAINED });
    });

    test('says what is left when the grace period is over', async ({ site }) => {
      const { dir } = await begin(site, version, { hasGate: false });
      await site.sink.stop();
      await site.isRead('app.log');
      const { code, outcome } = await ended(site, drain(site, dir, '--main-ended', '--grace', '4s'));
      expect(outcome).toMatchObject({ outcome: 'not-drained', left: { worst: [{ kind: 'held' }] } });
      expect(code).toBe(4);
    });

    test('leaves the stop to the kubelet where Fluentd has no witness', async ({ site }) => {
      const dir = join(site.dir, 'none');
      const fluentd = fluentdIn(site, version);
      await fluentd.ready;
      await site.write('app.log', 100);
      await site.isRead('app.log');
      const hook = drain(site, dir, '--main-ended', '-c', site.conf, '--grace', '40s');
      const { code, lost, outcome } = await ended(site, hook);
      expect({ code, lost }).toEqual({ code: 0, lost: 0 });
      expect(outcome).toMatchObject({ end: 'left-to-kubelet', outcome: 'unproven' });
      expect(fluentd.process.exitCode).toBeNull();
    });
  });
});

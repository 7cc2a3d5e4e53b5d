/** Configurations as people have them (fixtures/people), with each command. */
import { appendFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { describe, expect, test as plainTest } from 'vitest';
import { DRAINED, endOf, ONE_VERSION, onFluentd, test } from '../support/delivery.ts';
import type { Site } from '../support/delivery-site.ts';
import { freePort } from '../support/free-port.ts';
import { type PosidleRun, shellIn, startPosidle } from '../support/posidle.ts';
import {
  containerEnv,
  READY_LINE,
  requireFluentd,
  startFluentd,
  witnessIn,
} from '../support/real-fluentd.ts';
import { tempDir } from '../support/temp-dir.ts';
import { until } from '../support/until.ts';

const FIXTURES = 'fixtures/people';
const PLUGINS = resolve('test/witness/lib');
const LINES = 20;
const NOTHING = 'has no in_tail source: nothing to inspect';

interface Configuration {
  readonly file: string;
  /** A log that it takes, or none. */
  readonly log?: string;
  /** What `inspect -c` finds in it, or says. */
  readonly posFiles?: readonly string[];
  readonly says?: RegExp;
  /** Where real Fluentd has all its plugins, or what stands in for them: the road on which it is played. */
  readonly road?: 'run' | 'drain';
}

const CONFIGURATIONS: Readonly<Record<string, Configuration>> = {
  'the official image': { file: 'official-image.conf', says: RegExp(NOTHING), road: 'run' },
  'fluent-package': { file: 'fluent-package.conf', says: RegExp(NOTHING) },
  "an operator's aggregator": { file: 'aggregator.conf', says: RegExp(NOTHING) },
  "the images' for nodes": {
    ...{ file: 'daemonset/fluent.conf', log: 'containers/a_b_c-0.log', road: 'drain' },
    posFiles: ['fluentd-containers.log.pos'],
  },
  OpenShift: { file: 'openshift.conf', log: 'pods/a/b/0.log', posFiles: ['pos/containers.pos'] },
  EMR: { file: 'emr.conf', log: 'spark/driver/stdout', posFiles: ['emr.pos'] },
  "a cloud's agent": {
    ...{ file: 'container-insights.conf', log: 'containers/app.log' },
    posFiles: ['fluentd-containers.log.pos', 'agent.log.pos'],
  },
  'a chart without pos_file': {
    ...{ file: 'chart.conf', log: 'logs/app.log', road: 'run' },
    says: /chart\.conf: no in_tail source has a pos_file; set it, or give Fluentd a witness/,
  },
  'a sidecar whose path matches renamed logs': {
    ...{ file: 'sidecar.conf', log: 'logs/app.log', posFiles: ['app.log.pos'], road: 'drain' },
  },
};

/** Lays out a configuration with its parts, and gives its path. */
function layOut(dir: string, { file, log }: Configuration, ports: readonly number[] = [9, 9]): string {
  const from = dirname(join(FIXTURES, file));
  for (const name of readdirSync(from).filter((one) => one.endsWith('.conf'))) {
    const text = readFileSync(join(from, name), 'utf8').replaceAll('/DIR', dir);
    writeFileSync(join(dir, name), text.replaceAll('PORT2', `${ports[1]}`).replaceAll('PORT', `${ports[0]}`));
  }
  if (log !== undefined) mkdirSync(join(dir, dirname(log)), { recursive: true });
  return join(dir, file.replace('daemonset/', ''));
}

describe('inspect reads the configuration of', () => {
  const inDir = tempDir();

  plainTest.each(Object.entries(CONFIGURATIONS))('%s', (_, configuration) => {
    const { log, posFiles = [], says } = configuration;
    const conf = layOut(inDir(), configuration);
    if (log !== undefined) writeFileSync(inDir(log), 'one\n');
    const { stdout, stderr } = shellIn(inDir(), `posidle inspect -c ${conf}${says ? '' : ' --json'}`);
    if (says !== undefined) {
      expect(stdout + stderr).toMatch(says);
      return;
    }
    const found = JSON.parse(stdout);
    expect(found.posFiles.map(({ path }: { path: string }) => path)).toEqual(
      posFiles.map((name) => inDir(name)),
    );
    expect(found.undiscovered).toEqual([{ path: inDir(log ?? ''), size: 4 }]);
    expect(shellIn(inDir(), `posidle inspect -c ${conf}`).stdout).not.toMatch(/note:/);
  });
});

/** Lines in JSON, as a container runtime writes them. */
function writeLines(site: Site, { log }: Configuration): void {
  while (log !== undefined && site.lines.written < LINES) {
    const time = new Date().toISOString().replace('Z', '000000Z');
    const line = JSON.stringify({ log: site.lines.next(1), stream: 'stdout', time });
    appendFileSync(join(site.dir, log), `${line}\n`);
  }
}

interface Started {
  readonly env?: NodeJS.ProcessEnv;
  readonly main?: (posidle: PosidleRun) => Promise<void>;
}

onFluentd(ONE_VERSION, (version) => {
  const playedBy = (road: Configuration['road']) =>
    Object.entries(CONFIGURATIONS).filter(([, one]) => one.road === road);
  const ended = async (
    site: Site,
    words: readonly string[],
    { env = process.env, main = async () => {} }: Started = {},
  ) => {
    const [first = '', ...rest] = words;
    const posidle = startPosidle([first, '--strict', '--termination-log', site.termination, ...rest], {
      ...{ cwd: site.dir, env },
    });
    await main(posidle);
    writeFileSync(site.marker, '');
    return await endOf(site, posidle);
  };
  const FLUENTD_ENV = { KUBERNETES_SERVICE_HOST: 'none' };

  test.for(playedBy('run'))('run drains %s', async ([, configuration], { site }) => {
    const fluentd = requireFluentd(version);
    const conf = layOut(site.dir, configuration, [site.sink.port, await freePort()]);
    const main = async ({ stdout }: PosidleRun) => {
      await until('Fluentd is up', () => stdout().includes(READY_LINE));
      writeLines(site, configuration);
    };
    const command = [fluentd.command, '-c', conf, '-I', PLUGINS];
    const env = { ...containerEnv(fluentd, site.dir), ...FLUENTD_ENV, FLUENT_BACKUP_DIR: site.backup };
    const words = ['run', '--done-file', site.marker, '--', ...command];
    expect(await ended(site, words, { env, main })).toMatchObject(DRAINED);
  });

  test.for(playedBy('drain'))(
    'drain stops %s, which inspect sees read, when all is sent',
    async ([, one], { site }) => {
      const conf = layOut(site.dir, one, [site.sink.port, await freePort()]);
      const args = ['-I', PLUGINS];
      const text = readFileSync(conf, 'utf8');
      const fluentd = startFluentd({ version, dir: site.dir, conf: text, args, env: FLUENTD_ENV });
      await fluentd.ready;
      writeLines(site, one);
      const inspected = startPosidle(['inspect', '--witness', witnessIn(site.dir), '--wait', '60s']);
      expect([await inspected.exited, inspected.stdout()]).toEqual([
        0,
        expect.stringMatching(/^caught up: /),
      ]);
      const words = ['drain', '--main-ended', '--witness', witnessIn(site.dir), '--log-format', 'json'];
      expect(await ended(site, words)).toMatchObject({
        ...DRAINED,
        outcome: { ...DRAINED.outcome, end: 'stopped' },
      });
      expect(await fluentd.exited).toEqual({ code: 0, signal: null });
    },
  );
});

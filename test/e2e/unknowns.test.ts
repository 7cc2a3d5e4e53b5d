import {
  appendFileSync,
  chmodSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Outcome } from '../../src/core/drain/outcome.ts';
import {
  fileBuffer,
  makeWorkDir,
  memoryBuffer,
  renderConf,
  tail,
  toFile,
  toStdout,
  type WorkDir,
} from '../support/fluentd-conf.ts';
import { needsRoot } from '../support/needs.ts';
import { type PosidleOptions, type PosidleRun, startPosidle } from '../support/posidle.ts';
import {
  type FluentdRun,
  NEWEST,
  OLDEST_AND_NEWEST,
  requireFluentd,
  startFluentd,
  witnessIn,
} from '../support/real-fluentd.ts';
import { until } from '../support/until.ts';

const CLI = fileURLToPath(new URL('../../dist/cli.js', import.meta.url));
const UNPRIVILEGED = ['--reuid', '65534', '--regid', '65534', '--clear-groups'];

let work: WorkDir;
let fluentd: FluentdRun | undefined;
let watching: PosidleRun | undefined;

beforeEach(() => {
  work = makeWorkDir('unknowns');
});

afterEach(async () => {
  watching?.kill('SIGKILL');
  fluentd?.kill();
  await Promise.all([watching?.exited, fluentd?.exited]);
  watching = undefined;
  fluentd = undefined;
  rmSync(work.dir, { recursive: true, force: true });
});

const conf = () => join(work.dir, 'fluent.conf');
const log = (name: string) => join(work.logs, name);
const marker = () => join(work.dir, 'done');
const lines = (count: number, what = 'line') =>
  Array.from({ length: count }, (_, index) => `${what} ${index + 1}\n`).join('');

const start = async (version: string, text: string) => {
  fluentd = startFluentd({ version, dir: work.dir, conf: text });
  await fluentd.ready;
  return fluentd;
};
/** With a thousand lines in a memory buffer. */
const startHolding = (version: string) => {
  writeFileSync(log('app.log'), lines(1_000));
  const buffer = memoryBuffer({ flush_interval: '60s' });
  return start(version, renderConf([tail(log('*.log'), work.pos), toFile(join(work.dir, 'out'), buffer)]));
};
const watch = async (options: readonly string[], how?: PosidleOptions) => {
  const usual = ['--done-file', marker(), '--strict'];
  const witness = options.includes('--witness') ? [] : ['--witness', witnessIn(work.dir)];
  watching = startPosidle(['watch', '-c', conf(), ...usual, ...witness, ...options], how);
  return watching;
};
/** Nobody looks inside. */
const BLIND = ['--witness', 'off'];
const ofPid = ({ pid }: FluentdRun) => ['--pid', String(pid)];
const isRead = (running: FluentdRun, line: string) =>
  until(`fluentd prints "${line}"`, () => running.output().includes(`"${line}"`));
const outcomeOf = (run: PosidleRun) =>
  run.log().at(-1)?.outcome as Pick<Outcome, 'end' | 'outcome' | 'left' | 'doubts'>;
const inodeOf = (path: string) => statSync(path).ino.toString(16).padStart(16, '0');
/** The lines that out_file has written. */
const deliveredLines = () =>
  readdirSync(work.dir)
    .filter((name) => /^out\..*\.log$/.test(name))
    .reduce((sum, name) => sum + linesIn(join(work.dir, name)), 0);
const linesIn = (path: string) => readFileSync(path, 'utf8').match(/line \d+/g)?.length ?? 0;
const chunks = () => readdirSync(work.buffer).filter((name) => name.endsWith('.log'));

describe(`with Fluentd ${NEWEST}`, () => {
  const version = NEWEST;
  beforeEach((context) => void requireFluentd(version, context));

  test.each([
    ['a glob', (pos: string) => join(dirname(pos), '*.pos')],
    ['another spelling', (pos: string) => `${dirname(pos)}/logs/../app.pos`],
  ])(
    'a pos file named by %s is still that of fluent.conf: a file not yet discovered is waited for',
    async (_, name) => {
      writeFileSync(log('app.log'), 'line 1\n');
      const running = await start(
        version,
        renderConf([tail(log('*.log'), work.pos, { refresh_interval: '6s' }), toStdout()]),
      );
      await isRead(running, 'line 1');
      const run = await watch(['-p', name(work.pos), ...ofPid(running)]);
      await run.logged(/→ watching/);
      writeFileSync(log('late.log'), lines(1_000, 'late'));
      writeFileSync(marker(), '');
      expect(await run.exited).toBe(0);
      expect(running.output().match(/"late \d+"/g)).toHaveLength(1_000);
      expect(outcomeOf(run)).toMatchObject({ end: 'stopped', outcome: 'drained' });
    },
  );

  test('without a witness outputs in a file that cannot be included may hold a buffer: it is flushed', async () => {
    const out = toFile(join(work.dir, 'out'), fileBuffer(work.buffer, { flush_interval: '60s' }));
    writeFileSync(join(work.dir, 'more.conf'), renderConf([out]));
    writeFileSync(log('app.log'), lines(1_000));
    const running = await start(
      version,
      `${renderConf([tail(log('*.log'), work.pos)])}@include "#{Dir.pwd}/more.conf"\n`,
    );
    await until('everything is in the buffer', () =>
      chunks().some((name) => linesIn(join(work.buffer, name)) === 1_000),
    );
    const how = { env: { ...process.env, PATH: work.dir } };
    const run = await watch(['-p', work.pos, ...ofPid(running), ...BLIND], how);
    await run.logged(/→ watching/);
    writeFileSync(marker(), '');
    expect(await run.exited).toBe(3);
    expect(outcomeOf(run)).toMatchObject({ end: 'stopped', outcome: 'unproven', left: { count: 0 } });
    expect(deliveredLines()).toBe(1_000);
    expect(chunks()).toEqual([]);
    expect(run.log().map(({ level, msg }) => `${level} ${msg}`)).toContainEqual(
      expect.stringMatching(/^warn .*Dir\.pwd/),
    );
  });

  test('without a witness a path that cannot be evaluated may have new files: the drain goes to its bound, and says why', async () => {
    writeFileSync(log('app.log'), 'line 1\n');
    const running = await start(
      version,
      renderConf([tail('"#{Dir.pwd}/logs/*.log"', work.pos, { refresh_interval: '30s' }), toStdout()]),
    );
    await isRead(running, 'line 1');
    writeFileSync(log('late.log'), lines(1_000));
    writeFileSync(marker(), '');
    const how = { env: { ...process.env, PATH: work.dir } };
    const run = await watch([...ofPid(running), '--drain-timeout', '6s', ...BLIND], how);
    expect(await run.exited).toBe(3);
    expect(outcomeOf(run)).toMatchObject({ end: 'stopped', outcome: 'unproven' });
    expect(outcomeOf(run).doubts.worst).toContainEqual(
      expect.objectContaining({
        kind: 'unlisted',
        why: expect.stringMatching(/path could not be evaluated/),
      }),
    );
  });

  test('without a witness an in_tail whose pos_file cannot be evaluated may have files left: the drain goes to its bound, and says why', async () => {
    for (const name of ['app.log', 'other.log']) writeFileSync(log(name), 'line 1\n');
    const running = await start(
      version,
      renderConf([
        tail(log('app.log'), work.pos),
        tail(log('other.log'), '"#{Dir.pwd}/other.pos"'),
        toStdout(),
      ]),
    );
    await isRead(running, 'line 1');
    writeFileSync(marker(), '');
    const how = { env: { ...process.env, PATH: work.dir } };
    const run = await watch([...ofPid(running), '--drain-timeout', '6s', ...BLIND], how);
    expect(await run.exited).toBe(3);
    expect(outcomeOf(run)).toMatchObject({ end: 'stopped', outcome: 'unproven' });
    expect(outcomeOf(run).doubts.worst).toContainEqual(
      expect.objectContaining({
        kind: 'unlisted',
        why: expect.stringMatching(/^posidle cannot tell which files belong to further sources: .*Dir\.pwd/),
      }),
    );
  });

  test('a directory that posidle may not list is a doubt that names it', async (context) => {
    needsRoot(context);
    writeFileSync(log('app.log'), 'line 1\n');
    const running = await start(
      version,
      renderConf([tail(log('*.log'), work.pos, { refresh_interval: '30s' }), toStdout()]),
    );
    await isRead(running, 'line 1');
    chmodSync(work.dir, 0o755);
    chmodSync(work.logs, 0o711);
    writeFileSync(log('late.log'), lines(1_000));
    const wrapper = ['setpriv', ...UNPRIVILEGED, process.execPath, CLI];
    const run = startPosidle(
      ['watch', '-c', conf(), '--native-sidecar', '--grace', '20s', '--strict', ...BLIND],
      { wrapper },
    );
    watching = run;
    await run.logged(/^posidle watches/);
    run.kill('SIGTERM');
    expect(await run.exited).toBe(3);
    expect(outcomeOf(run).outcome).toBe('unproven');
    expect(JSON.stringify(outcomeOf(run).doubts)).toContain(work.logs);
  });

  test('a Fluentd that is killed takes its memory buffer with it: that is unproven, and --strict exits 3', async () => {
    const running = await startHolding(version);
    const run = await watch([...ofPid(running), '--start-timeout', '20s']);
    await run.logged(/→ watching/);
    running.kill();
    writeFileSync(marker(), '');
    expect(await run.exited).toBe(3);
    expect(outcomeOf(run)).toMatchObject({ end: 'ended-by-itself', outcome: 'unproven' });
    expect(outcomeOf(run).doubts.worst).toContainEqual(expect.objectContaining({ kind: 'worker-died' }));
    expect(deliveredLines()).toBe(0);
  });

  test('a file that goes away before in_tail has found it is named', async () => {
    writeFileSync(log('app.log'), 'line 1\n');
    const running = await start(
      version,
      renderConf([tail(log('*.log'), work.pos, { refresh_interval: '30s' }), toStdout()]),
    );
    await isRead(running, 'line 1');
    const run = await watch(ofPid(running));
    await run.logged(/→ watching/);
    writeFileSync(log('late.log'), lines(100));
    writeFileSync(marker(), '');
    await run.logged(/late\.log: Fluentd has not found it/);
    rmSync(log('late.log'));
    expect(await run.exited).toBe(3);
    expect(outcomeOf(run)).toMatchObject({ end: 'stopped', outcome: 'unproven' });
    expect(outcomeOf(run).doubts.worst).toContainEqual(
      expect.objectContaining({ kind: 'never-followed', about: log('late.log') }),
    );
  });
});

describe.each(OLDEST_AND_NEWEST)('with Fluentd %s', (version) => {
  beforeEach((context) => void requireFluentd(version, context));

  test.each([
    ['with a witness', [], 0],
    ['without one', BLIND, 3],
  ])(
    '%s the rest of a throttled file that was renamed, and that nothing replaces, is waited for',
    async (_, witness, code) => {
      const limit = 20_000;
      const running = await start(
        version,
        renderConf([
          tail(log('app.log'), work.pos, {
            read_bytes_limit_per_second: limit,
            refresh_interval: '1s',
            rotate_wait: '1s',
          }),
          toStdout(),
        ]),
      );
      writeFileSync(log('app.log'), 'line 0\n');
      await isRead(running, 'line 0');
      const run = await watch([...ofPid(running), ...witness]);
      await run.logged(/→ watching/);
      appendFileSync(log('app.log'), lines(1_500, `${'padding-'.repeat(9)}line`));
      renameSync(log('app.log'), log('app.log.1'));
      writeFileSync(marker(), '');
      expect(await run.exited).toBe(code);
      expect(running.output().match(/line \d+"/g)).toHaveLength(1_501);
    },
  );
});

describe('with Fluentd 1.14.6', () => {
  const version = '1.14.6';
  beforeEach((context) => void requireFluentd(version, context));

  test('the rest of a throttled file that was renamed, which no pos file shows, is waited for', async () => {
    const running = await start(
      version,
      renderConf([
        tail(log('app.log'), work.pos, { read_bytes_limit_per_second: 8_192, refresh_interval: '1s' }),
        toStdout(),
      ]),
    );
    const text = lines(600, `${'padding-'.repeat(9)}line`);
    writeFileSync(log('app.tmp'), text);
    renameSync(log('app.tmp'), log('app.log'));
    await until('the first lines are read', () => running.output().includes('line 1"'));
    const run = await watch(ofPid(running));
    await run.logged(/→ watching/);
    renameSync(log('app.log'), log('app.log.1'));
    writeFileSync(log('app.log'), 'line 601\n');
    await until('the pos file has the new file', () =>
      readFileSync(work.pos, 'utf8').includes(inodeOf(log('app.log'))),
    );
    writeFileSync(marker(), '');
    expect(await run.exited).toBe(0);
    expect(running.output().match(/line \d+"/g)).toHaveLength(601);
  });
});

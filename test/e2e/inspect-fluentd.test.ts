import {
  appendFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { expect } from 'vitest';
import { ONE_VERSION, onFluentd, startBeside, test } from '../support/delivery.ts';
import { memoryBuffer, output, tail, toHttp } from '../support/fluentd-conf.ts';
import { schemaIn } from '../support/json-schema.ts';
import { processesNaming } from '../support/own-processes.ts';
import { posidle } from '../support/posidle.ts';
import { witnessIn } from '../support/real-fluentd.ts';
import { requireTmux, Tmux } from '../support/tmux.ts';
import { until } from '../support/until.ts';

const { faultsIn } = schemaIn('src/core/inspect/inspection.schema.json');

/** In one process it starts in half the time. */
const ALONE = ['--no-supervisor'];

onFluentd(ONE_VERSION, (version) => {
  test('every state is made by Fluentd or the file system, and shown in table, JSON and live', async ({
    site,
    skip,
  }) => {
    requireTmux({ skip });
    const log = (name: string) => site.log(`${name}.log`);
    const told = async () => JSON.parse((await posidle('inspect', '-c', site.conf, '--json')).stdout);
    const states = async () => statesIn(await told());
    const slow = { refresh_interval: 1, read_bytes_limit_per_second: 8_192 };
    const conf = [
      tail(log('*'), site.pos, { refresh_interval: 1, rotate_wait: 0 }),
      tail(join(site.dir, 'slow', 'big.log'), join(site.dir, 'slow.pos'), slow),
      output('null'),
    ];
    mkdirSync(join(site.dir, 'slow'));
    for (const name of ['read', 'turned', 'cut', 'gone', 'stuck', 'let-go'])
      writeFileSync(log(name), 'line 1\nline 2\n');
    writeFileSync(log('torn'), 'line 1\nline');
    writeFileSync(join(site.dir, 'slow', 'big.log'), `${'x'.repeat(99)}\n`.repeat(20_000));
    const fluentd = startBeside(site, { version, conf, fluentdArgs: ALONE });
    await fluentd.ready;
    rmSync(log('let-go'));
    const before = { read: 'caught-up', torn: 'partial-line', 'let-go': 'unwatched', big: 'behind' };
    await until('what Fluentd itself makes', async () => includes(await states(), before));

    await freeze(fluentd.pid, site.dir);
    renameSync(log('turned'), join(site.logs, 'turned.1'));
    writeFileSync(log('turned'), 'line 3\n');
    truncateSync(log('cut'), 7);
    rmSync(log('gone'));
    appendFileSync(log('stuck'), 'line 3\n');
    writeFileSync(log('new'), 'line 1\n');
    const stopped = {
      turned: 'rotated',
      cut: 'truncated',
      gone: 'missing',
      stuck: 'behind',
      new: 'undiscovered',
    };
    // One look says `blocked` at once where the pos file has already stood still for 10 s.
    const stuck = expect.stringMatching(/^(behind|blocked)$/);
    expect(await states()).toMatchObject({ ...stopped, stuck, read: 'caught-up', torn: 'partial-line' });

    const terminal = new Tmux({ columns: 120, rows: 30 });
    try {
      terminal.posidle(`inspect -c ${site.conf} --follow --interval 200ms`);
      const all = { ...before, ...stopped, stuck: 'blocked', big: 'blocked' };
      await until('what stands still for 10 s is blocked', async () => includes(await states(), all), {
        every: 500,
      });
      const found = await told();
      expect(faultsIn(found)).toEqual([]);
      const kinds = found.left.worst.map(({ kind }: { kind: string }) => kind);
      expect(new Set(kinds)).toEqual(new Set(['unread', 'unfinished', 'unfound']));
      const { stdout, code } = await posidle('inspect', '-c', site.conf);
      expect(code).toBe(0);
      for (const [name, state] of Object.entries(all)) {
        const shown = new RegExp(`${state} .*${name}\\.log`);
        expect(stdout).toMatch(shown);
        await until(`live: ${name} is ${state}`, () => shown.test(terminal.screen()));
      }
    } finally {
      terminal.kill();
      process.kill(-fluentd.pid, 'SIGCONT');
    }
  });

  test('inspect shows what a buffer in memory holds, and --wait waits until it is sent', async ({ site }) => {
    site.sink.phase = 'refusing';
    await site.write('a.log', 1);
    const buffer = memoryBuffer({ flush_interval: '1s', retry_type: 'periodic', retry_wait: '1s' });
    const conf = [tail(site.log('*.log'), site.pos), toHttp(site.sink.port, buffer)];
    await startBeside(site, { version, conf, fluentdArgs: ALONE }).ready;
    const inspect = (...args: readonly string[]) =>
      posidle('inspect', '-c', site.conf, '--witness', witnessIn(site.dir), ...args);
    const found = await until('the line is read and held', async () => {
      const told = JSON.parse((await inspect('--json')).stdout);
      return told.caughtUp && told.left.count === 1 ? told : undefined;
    });
    expect(faultsIn(found)).toEqual([]);
    expect(found).toMatchObject({
      left: { worst: [{ kind: 'held', chunks: 1 }] },
      witness: { workers: [{ kind: 'alive', files: [{ path: site.log('a.log') }] }] },
    });
    expect((await inspect()).stdout).toMatch(/^left: .* holds 1 chunk /m);
    const late = await inspect('--wait', '1s', '--interval', '100ms');
    expect(late).toMatchObject({ code: 1, stdout: expect.stringMatching(/^caught up: .* holds 1 chunk /) });
    const waiting = inspect('--wait', '5m', '--interval', '100ms');
    site.sink.phase = 'up';
    expect(await waiting).toMatchObject({ code: 0 });
    const { stdout } = await inspect();
    expect(stdout).toMatch(/^nothing is left$/m);
    expect(stdout).toMatch(/^Fluentd itself, worker \d+: 1 line read$/m);
    expect(stdout).toMatch(/^ {2}http: holds nothing; 1 taken, 1 delivered$/m);
    expect(stdout).not.toMatch(/^buffers:/m);
  });
});

/** Stops every process of the group, and waits until all threads of it are. */
async function freeze(group: number, dir: string): Promise<void> {
  process.kill(-group, 'SIGSTOP');
  const isStopped = (status: string) => /^State:\tT/m.test(readFileSync(status, 'utf8'));
  await until('all of the group stand still', () =>
    processesNaming(dir).every((pid) =>
      readdirSync(`/proc/${pid}/task`).every((task) => isStopped(`/proc/${pid}/task/${task}/status`)),
    ),
  );
}

interface Told {
  readonly posFiles: readonly { readonly entries: readonly { path: string; state: string }[] }[];
  readonly undiscovered: readonly { readonly path: string }[];
}

function statesIn({ posFiles, undiscovered }: Told): Readonly<Record<string, string>> {
  const entries = posFiles.flatMap((posFile) =>
    posFile.entries.map(({ path, state }) => [basename(path, '.log'), state]),
  );
  // The file in the place of a renamed one is undiscovered, at the path of the one that has an entry.
  return Object.fromEntries([
    ...undiscovered.map(({ path }) => [basename(path, '.log'), 'undiscovered']),
    ...entries,
  ]);
}

function includes(all: Readonly<Record<string, string>>, wanted: Readonly<Record<string, string>>): boolean {
  return Object.entries(wanted).every(([name, state]) => all[name] === state);
}

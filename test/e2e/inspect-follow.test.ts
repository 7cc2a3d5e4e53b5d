import { appendFileSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { posText } from '../support/builders.ts';
import { makeWorkDir, renderConf, tail, toStdout } from '../support/fluentd-conf.ts';
import { CLI, SLOW_STATS, startPosidle } from '../support/posidle.ts';
import { type FluentdRun, NEWEST, requireFluentd, startFluentd } from '../support/real-fluentd.ts';
import { requireTmux, Tmux } from '../support/tmux.ts';
import { until } from '../support/until.ts';

const FOOT = /q quit · \? help/;

let terminal: Tmux | undefined;

beforeEach((context) => requireTmux(context));
afterEach(() => {
  terminal?.kill();
  terminal = undefined;
});

describe(`the live view beside a loaded Fluentd ${NEWEST}`, () => {
  let fluentd: FluentdRun | undefined;
  const work = makeWorkDir('follow');

  afterEach(async () => {
    fluentd?.kill();
    await fluentd?.exited;
    rmSync(work.dir, { recursive: true, force: true });
  });

  test('shows lag rise while more is written than read, and fall when the writer has stopped', async (context) => {
    requireFluentd(NEWEST, context);
    const log = join(work.logs, 'job.log');
    const slow = { refresh_interval: 1, read_bytes_limit_per_second: 100_000 };
    writeFileSync(log, 'line 1\n');
    const conf = renderConf([tail(log, work.pos, slow), { ...toStdout(), params: { '@type': 'null' } }]);
    fluentd = startFluentd({ version: NEWEST, dir: work.dir, conf });
    await fluentd.ready;
    const shown = await openTerminal();
    shown.posidle(`inspect ${work.pos} --follow --interval 200ms`);
    await until('caught up', () => /caught up: 1 file/.test(shown.screen()));

    const rising: number[] = [];
    const chunk = `${'x'.repeat(99)}\n`.repeat(400);
    await until(
      'the lag rises',
      () => {
        appendFileSync(log, chunk);
        rising.push(lagOn(shown.screen()));
        return rising.length > 20 && Math.max(...rising) > 300_000;
      },
      { every: 100 },
    );
    expect(shown.screen()).toMatch(/behind by [\d.]+ [KM]iB (\([\d.]+ s\) )?in 1 of 1 file/);
    const top = Math.max(...rising);
    const falling: number[] = [];
    await until(
      'the lag falls to nothing',
      () => {
        falling.push(lagOn(shown.screen()));
        if (/about .* to go/.test(shown.screen())) expect(shown.screen()).toMatch(/read at [\d.]+ [KM]iB\/s/);
        return /caught up: 1 file/.test(shown.screen());
      },
      { within: 90_000, every: 200 },
    );
    expect(falling.some((lag) => lag > 0 && lag < top)).toBe(true);
    expect(shown.screen()).toMatch(/[▁▂▃▄▅▆▇█]{3}/);
    shown.type('q');
    await until('the shell is back', () => shown.modes() === '0 1 1');
  });
});

describe('the live view', () => {
  let dir: string;
  let pos: string;

  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'posidle-view-'));
    pos = join(dir, 'app.pos');
    writeFileSync(join(dir, 'a.log'), 'one\ntwo\n');
    const inode = statSync(join(dir, 'a.log')).ino;
    writeFileSync(pos, posText([{ path: join(dir, 'a.log'), position: 4, inode }]));
  });
  afterEach(() => rmSync(dir, { recursive: true, force: true }));

  const filesInPosFile = (count: number) =>
    writeFileSync(
      pos,
      posText(Array.from({ length: count }, (_, at) => ({ path: `/${at}.log`, position: 1, inode: 1 }))),
    );

  const open = async (args = '') => {
    const shown = await openTerminal();
    const before = { modes: shown.modes(), settings: shown.settings() };
    shown.posidle(`inspect ${pos} --follow --interval 100ms ${args}`);
    await until('the live view', () => FOOT.test(shown.screen()));
    expect(shown.modes()).toBe('1 0 0');
    const isBack = () => shown.modes() === before.modes && /ready>/.test(shown.screen());
    return { shown, before, isBack };
  };

  test.each<[string, (shown: Tmux) => void]>([
    ['q', (shown) => shown.type('q')],
    ['Ctrl-C', (shown) => shown.type('C-c')],
    ['SIGTERM', (shown) => signal(shown, 'SIGTERM')],
    ['SIGINT', (shown) => signal(shown, 'SIGINT')],
    ['SIGHUP', (shown) => signal(shown, 'SIGHUP')],
  ])('leaves the terminal as it was after %s', async (_, end) => {
    const { shown, before, isBack } = await open();
    end(shown);
    await until('the terminal as it was', isBack);
    await until('the same line settings', () => shown.settings() === before.settings);
    shown.type('echo code $?', 'Enter');
    await until('exit code 0', () => /^code 0$/m.test(shown.screen()));
    expect(shown.screen()).not.toMatch(FOOT);
  });

  test('leaves the terminal as it was at SIGQUIT, and dies of it', async () => {
    const shown = await openTerminal();
    const settings = shown.settings();
    shown.type('ulimit -c 0', 'Enter');
    shown.posidle(`inspect ${pos} --follow`);
    await until('the live view', () => FOOT.test(shown.screen()));
    signal(shown, 'SIGQUIT');
    await until('the terminal as it was', () => shown.modes() === '0 1 1', { within: 5_000 });
    await until('the same line settings', () => shown.settings() === settings);
    shown.type('echo code $?', 'Enter');
    await until('the exit code of a SIGQUIT', () => /^code 131$/m.test(shown.screen()));
  });

  test('leaves the terminal as it was after a crash, and its stack can be read', async () => {
    const shown = await openTerminal();
    const settings = shown.settings();
    const crash = 'setTimeout(()=>{throw/**/new/**/Error("crashed")},1500)';
    shown.type(`export NODE_OPTIONS='--import data:text/javascript,${crash}'`, 'Enter');
    shown.posidle(`inspect ${pos} --follow`);
    await until('the live view', () => shown.modes() === '1 0 0');
    await until('the end', () => shown.modes() === '0 1 1' && /Error: crashed/.test(shown.screen()));
    await until('the same line settings', () => shown.settings() === settings);
  });

  test('leaves the terminal for the shell at Ctrl-Z, and comes back', async () => {
    const { shown, isBack } = await open();
    shown.type('C-z');
    await until('the shell', isBack);
    shown.type('fg', 'Enter');
    await until('the live view again', () => FOOT.test(shown.screen()) && shown.modes() === '1 0 0');
    shown.type('q');
    await until('the shell', isBack);
  });

  test('stays in the terminal at Ctrl-Z where no shell waits, as after kubectl exec', async () => {
    const command = `exec ${process.execPath} ${CLI} inspect ${pos} --follow --interval 100ms`;
    const shown = new Tmux({ command });
    terminal = shown;
    await until('the live view', () => FOOT.test(shown.screen()));
    const settings = shown.settings();
    shown.type('C-z', 's');
    await until('another order', () => /sort \(file\)/.test(shown.screen()));
    await until('a terminal of its own', () => shown.modes() === '1 0 0' && shown.settings() === settings, {
      within: 5_000,
    });
  });

  test('sorts anew at s, and stands still at space until the next', async () => {
    const { shown } = await open();
    shown.type('s');
    await until('another order', () => /sort \(file\)/.test(shown.screen()));
    shown.type('Space');
    await until('paused', () => /PAUSED/.test(shown.screen()));
    writeFileSync(join(dir, 'a.log'), 'one\ntwo\nthree\n');
    shown.type('s');
    await until('still the old size', () => /sort \(state\)/.test(shown.screen()));
    expect(shown.screen()).toMatch(/behind by 4 B/);
    shown.type('Space');
    await until('the new lag', () => /behind by 10 B/.test(shown.screen()));
  });

  test('follows the size of the window, and never wraps a line', async () => {
    const { shown } = await open();
    for (const [columns, rows] of [
      [40, 10],
      [120, 30],
      [80, 24],
    ] as const) {
      shown.resize(columns, rows);
      await until(`a picture of ${columns} columns`, () => {
        const lines = shown.screen().split('\n');
        return lines[1] === 'behind by 4 B in 1 of 1 file' && /^q quit/.test(lines[rows - 1] ?? '');
      });
    }
  });

  test('of 10,000 files draws those that fit, scrolls, and answers keys at once', async () => {
    writeFileSync(
      pos,
      posText(
        Array.from({ length: 10_000 }, (_, at) => ({ path: `${dir}/${at}.log`, position: 1, inode: at + 1 })),
      ),
    );
    const { shown } = await open();
    await until('all of them', () => /of 10000/.test(shown.screen()));
    shown.type('NPage');
    await until('the next page', () => /· 1[5-9]–/.test(shown.screen()), { within: 2_000 });
    shown.type('q');
    await until('the shell', () => shown.modes() === '0 1 1', { within: 2_000 });
  });

  test('says how far a first look is that takes longer than a second, and lets it be left', async () => {
    const lines = Array.from({ length: 3_000 }, (_, at) => ({
      path: `${dir}/${at}`,
      position: null,
      inode: 1,
    }));
    writeFileSync(pos, posText(lines));
    const shown = await openTerminal();
    shown.type(`export ${SLOW_STATS}`, 'Enter', 'clear', 'Enter');
    shown.posidle(`inspect ${pos} --follow`);
    const told = /^looked at \d+ of 3000 files \(\d+%\)\n/;
    await until('how far it is', () => shown.modes() === '1 0 0' && told.test(shown.screen()), {
      within: 20_000,
    });
    shown.type('q');
    await until('the shell', () => shown.modes() === '0 1 1', { within: 5_000 });
    expect(shown.screen()).not.toMatch(/looked at/);
  });

  test('goes back at the first key, however often it was told to go on', async () => {
    filesInPosFile(30);
    const { shown } = await open();
    shown.type(...Array.from({ length: 40 }, () => 'Down'));
    await until('the last file', () => /^› .* \/29\.log$/m.test(shown.screen()));
    expect(shown.screen()).toMatch(/· 13–30 of 30/);
    shown.type('Up');
    await until('the one before', () => /^› .* \/28\.log$/m.test(shown.screen()), { within: 5_000 });
  });

  test('filters, reverses, opens a file and shows help, 80 columns wide', async () => {
    filesInPosFile(30);
    const { shown } = await open();
    shown.type('/', '.', '2', 'BSpace', 'BSpace', '/', '2', 'Q');
    await until('what is typed', () => /^\/\/2Q▏.*no entries$/m.test(shown.screen()));
    shown.type('BSpace');
    await until('the files that are named so', () => /▏.*1–11 of 11$/m.test(shown.screen()));
    shown.type('Enter', 'r');
    await until('the last comes first', () => /^› .* \/29\.log$/m.test(shown.screen()));
    shown.type('Down', 'Enter');
    await until('the file', () => /^File \/28\.log: missing, lag unknown, /m.test(shown.screen()));
    expect(shown.screen()).toMatch(/^unknown: \/28\.log is missing, and nobody knows /m);
    expect(shown.screen()).toMatch(/^source: not known; give -c$/m);
    shown.type('x');
    await until('the files', () => /^› .* \/28\.log$/m.test(shown.screen()));
    shown.type('?');
    await until('help', () => /^r +reverse the order$/m.test(shown.screen()));
    shown.type('x', 'Escape');
    await until('all files', () => /1–18 of 30$/m.test(shown.screen()));
    shown.type('q');
    await until('the shell', () => shown.modes() === '0 1 1');
  });

  test('sends no control character of a path to the terminal', async () => {
    writeFileSync(pos, posText([{ path: '/evil\u001b[2J\u202e.log', position: 1, inode: 1 }]));
    const { shown } = await open();
    expect(shown.screen()).toMatch(/\/evil\\x1b\[2J\\u202e\.log/);
  });

  test('is lines with a timestamp where stdout is a pipe, and ends with the pipe', async () => {
    const shown = await openTerminal();
    const settings = shown.settings();
    shown.posidle(`inspect ${pos} --follow --interval 100ms | head -1; echo codes \${PIPESTATUS[@]}`);
    await until('a line', () =>
      /^\d{4}-\d\d-\d\dT[\d:.]+Z behind by 4 B in 1 of 1 file$/m.test(shown.screen()),
    );
    appendFileSync(join(dir, 'a.log'), 'three\n');
    await until('the end', () => /^codes 0 0$/m.test(shown.screen()));
    expect(shown.modes()).toBe('0 1 1');
    await until('the same line settings', () => shown.settings() === settings);
  });

  test('is lines where the terminal can do no more', async () => {
    const shown = await openTerminal();
    shown.type('export TERM=dumb', 'Enter');
    shown.posidle(`inspect ${pos} --follow --interval 100ms`);
    await until('a line', () => /behind by 4 B in 1 of 1 file/.test(shown.screen()));
    expect(shown.modes()).toBe('0 1 1');
    expect(shown.screen()).not.toMatch(FOOT);
    shown.type('C-c');
  });

  test.each(['SIGTERM', 'SIGINT'] as const)(
    'as lines tells each change once and ends at %s',
    async (name) => {
      const run = startPosidle(['inspect', pos, '--follow', '--interval', '50ms']);
      await until('the first look', () => /behind by 4 B in 1 of 1 file\n/.test(run.stdout()));
      appendFileSync(join(dir, 'a.log'), 'three\n');
      await until('the next', () => /behind by 10 B in 1 of 1 file\n/.test(run.stdout()));
      run.kill(name);
      expect(await run.exited).toBe(0);
      const summaries = run.stdout().match(/behind by \d+ B/g);
      expect(summaries).toEqual(['behind by 4 B', 'behind by 10 B']);
      expect(run.stderr()).toBe('');
    },
  );

  test('as JSON tells the whole whenever it has changed', async () => {
    const run = startPosidle(['inspect', pos, '--follow', '--json', '--interval', '50ms']);
    await until('the first look', () => run.stdout().split('\n').length === 2);
    appendFileSync(join(dir, 'a.log'), 'three\n');
    await until('the next', () => run.stdout().split('\n').length === 3);
    run.kill('SIGTERM');
    expect(await run.exited).toBe(0);
    const lags = run
      .stdout()
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).lag);
    expect(lags).toEqual([4, 10]);
  });
});

/** With the shell's prompt: before that its line settings are still to come. */
async function openTerminal(): Promise<Tmux> {
  const opened = new Tmux();
  terminal = opened;
  await until('a prompt', () => /ready>/.test(opened.screen()));
  return opened;
}

function signal(shown: Tmux, name: NodeJS.Signals): void {
  for (const pid of shown.pids()) process.kill(pid, name);
}

/** Bytes of the line `lag 12.4 MiB`. */
function lagOn(screen: string): number {
  const [, count = '0', unit = 'B'] = /^lag ([\d.]+) (\w+)/m.exec(screen) ?? [];
  return Number(count) * 1024 ** ['B', 'KiB', 'MiB', 'GiB'].indexOf(unit);
}

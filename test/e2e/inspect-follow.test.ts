import { appendFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { inspectedDir } from '../support/inspected-dir.ts';
import { schemaIn } from '../support/json-schema.ts';
import { startPosidle } from '../support/posidle.ts';
import { requireTmux, Tmux } from '../support/tmux.ts';
import { until } from '../support/until.ts';

let terminal: Tmux | undefined;

beforeEach((context) => requireTmux(context));
afterEach(() => {
  terminal?.kill();
  terminal = undefined;
});

describe('--follow', () => {
  const { at, logged, posFile } = inspectedDir();
  let pos: string;

  beforeEach(() => {
    pos = at('app.pos');
    posFile('app.pos', [logged('a.log', 'one\ntwo\n', 4)]);
  });

  const open = async () => {
    const shown = await openTerminal();
    shown.posidle(`inspect ${pos} --follow --interval 100ms`);
    await until('the first picture', () => /behind by 4 B in 1 of 1 file/.test(shown.screen()));
    return shown;
  };

  test('draws what is left anew at each look, and ends at Ctrl-C with 0', async () => {
    const shown = await open();
    appendFileSync(at('a.log'), 'three\n');
    await until('the next picture', () => /behind by 10 B in 1 of 1 file/.test(shown.screen()));
    expect(shown.screen()).not.toMatch(/behind by 4 B/);
    shown.type('C-c');
    await until('the shell', () => /ready>/.test(shown.screen()));
    shown.type('echo code $?', 'Enter');
    await until('exit code 0', () => /^code 0$/m.test(shown.screen()));
  });

  test('follows the size of the window, and never wraps a line', async () => {
    const shown = await open();
    for (const [columns, rows] of [
      [40, 10],
      [120, 30],
      [80, 24],
    ] as const) {
      shown.resize(columns, rows);
      await until(`a picture of ${columns} columns`, () => {
        const lines = shown.screen().split('\n');
        return lines[1] === 'behind by 4 B in 1 of 1 file' && /a\.log$/.test(lines[4] ?? '');
      });
    }
  });

  test('prints lines on a terminal that cannot draw', async () => {
    const shown = await openTerminal();
    shown.type('export TERM=dumb', 'Enter');
    shown.posidle(`inspect ${pos} --follow --interval 100ms`);
    await until('a line', () => /^\d{4}-\S+Z behind by 4 B in 1 of 1 file$/m.test(shown.screen()));
    shown.type('C-c');
  });

  test.each(['SIGTERM', 'SIGINT'] as const)(
    'as lines tells each change once and ends at %s',
    async (name) => {
      const run = startPosidle(['inspect', pos, '--follow', '--interval', '50ms']);
      await until('the first look', () => /behind by 4 B in 1 of 1 file\n/.test(run.stdout()));
      appendFileSync(at('a.log'), 'three\n');
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
    appendFileSync(at('a.log'), 'three\n');
    await until('the next', () => run.stdout().split('\n').length === 3);
    run.kill('SIGTERM');
    expect(await run.exited).toBe(0);
    const told = run
      .stdout()
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(told.map(({ lag }) => lag)).toEqual([4, 10]);
    const { faultsIn } = schemaIn('src/core/inspect/inspection.schema.json');
    expect(told.flatMap((one) => faultsIn(one))).toEqual([]);
    expect(told[1].posFiles[0].entries[0].oldestUnreadMs).toBeGreaterThanOrEqual(50);
  });
});

/** With the shell's prompt: before that its line settings are still to come. */
async function openTerminal(): Promise<Tmux> {
  const opened = new Tmux();
  terminal = opened;
  await until('a prompt', () => /ready>/.test(opened.screen()));
  return opened;
}

import { utimesSync, writeFileSync } from 'node:fs';
import { beforeEach, describe, expect, test } from 'vitest';
import { posText } from '../support/builders.ts';
import { inspectedDir } from '../support/inspected-dir.ts';
import { posidle } from '../support/posidle.ts';

const { at: inDir, logged, shell } = inspectedDir();
let pos: string;

beforeEach(() => {
  pos = inDir('app.pos');
});

describe('the table', () => {
  test('names every file with what is read and left, what is furthest behind first, and a summary', async () => {
    const entries = [logged('a.log', 'one\n', 4), logged('b.log', `${'x'.repeat(4_095)}\n`, 1_024)];
    writeFileSync(pos, posText(entries));
    // However long posidle takes to start: after 10 s what is behind counts as blocked.
    const later = Date.now() / 1_000 + 3_600;
    utimesSync(pos, later, later);
    const { stdout, code } = await posidle('inspect', pos);
    expect(
      stdout
        .split('\n')
        .slice(1)
        .map((line) =>
          line
            .trim()
            .replace(/ {2,}/g, ' | ')
            .replace(/ \d+s /, ' 0s '),
        ),
    ).toEqual([
      'STATE | LAG | READ | POSITION | SIZE | INODE | AGE | FILE',
      `behind | 3.0 KiB | 25% | 1024 | 4096 | ${entries[1]?.inode} | 0s | ${inDir()}/b.log`,
      `caught-up | 0 B | 100% | 4 | 4 | ${entries[0]?.inode} | 0s | ${inDir()}/a.log`,
      '',
      'total: 2 files, 4.0 KiB, 25% read, 3.0 KiB left',
      'behind by 3.0 KiB in 1 of 2 files',
      '',
    ]);
    expect(code).toBe(0);
  });

  test('has colours in a terminal, and none with NO_COLOR, a dumb terminal or a pipe', () => {
    writeFileSync(pos, posText([logged('a.log', 'one\n', 4)]));
    // In a CI that it does not know, Node has no colours (tty.getColorDepth).
    const inTerminal = 'env -u CI script -qec "$(declare -f posidle); posidle inspect app.pos" /dev/null';
    expect(shell('posidle inspect app.pos').stdout).not.toContain('\x1b');
    expect(shell(`TERM=xterm ${inTerminal}`).stdout).toContain('\x1b[32m');
    for (const without of ['TERM=xterm NO_COLOR=1', 'TERM=dumb'])
      expect(shell(`${without} ${inTerminal}`).stdout).not.toContain('\x1b');
  });
});

/** Only those of `run` and `inspect` are put together otherwise. */
test.each(['', 'watch', 'run', 'inspect'])(
  '`posidle %s --help` says how the environment sets an option, and what the exit codes mean',
  async (command) => {
    const { stdout, code } = await posidle(...command.split(' ').filter(Boolean), '--help');
    const said = stdout.replaceAll(/\s+/g, ' ');
    expect(said).toMatch(/ Every option can be set by environment: --some-option X by POSIDLE_SOME_OPTION=X/);
    const [, codes] = said.split(' Exit codes: ');
    expect(codes).toMatch(/; 2 wrong options or configuration/);
    expect(codes?.match(/(^|; )1 .*?a bug: please report it/g)).toHaveLength(1);
    expect(codes?.match(/(^|; )1 /g)).toHaveLength(1);
    expect(code).toBe(0);
  },
);

describe('the pos files', () => {
  const summaryOf = (line: string) => shell(line).stdout;

  beforeEach(() => {
    writeFileSync(pos, posText([logged('a.log', 'one\n', 0)]));
    writeFileSync(inDir('other.pos'), posText([logged('b.log', 'one\n', 1), logged('c.log', 'one\n', 1)]));
  });

  test('from the environment count only if none is named', () => {
    const beside = 'POSIDLE_POS_FILE=other.pos posidle inspect --max-lag 0';
    expect(summaryOf(beside)).toMatch(/^behind by 6 B in 2 of 2 files /);
    for (const named of ['app.pos', '-p app.pos', '-- app.pos'])
      expect(summaryOf(`${beside} ${named}`)).toMatch(/^behind by 4 B in 1 of 1 file /);
  });

  test('may stand behind --', () => {
    expect(summaryOf('posidle inspect --max-lag 0 -- app.pos other.pos')).toMatch(
      /^behind by 10 B in 3 of 3 files /,
    );
    expect(summaryOf('posidle inspect --max-lag 0 app.pos -- -dash.pos')).toMatch(
      /^-dash\.pos: it is not there/,
    );
  });
});

describe('for programs', () => {
  test('--max-lag reports oddities of a pos file, and passes anyway', async () => {
    const entry = logged('a.log', 'one\n', 4);
    writeFileSync(pos, posText([entry, entry]));
    expect(await posidle('inspect', pos, '--max-lag', '0')).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(
        /^caught up: 1 file; .*app\.pos: 1 path with several entries, .*#3614.*\n$/,
      ),
    });
  });
});

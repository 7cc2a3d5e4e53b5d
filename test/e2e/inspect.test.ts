import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { inspect as inspectByApi } from '../../src/index.ts';
import { posText } from '../support/builders.ts';
import { posidle } from '../support/posidle.ts';
import { requireTmux, Tmux } from '../support/tmux.ts';
import { until } from '../support/until.ts';

const CLI = fileURLToPath(new URL('../../dist/cli.js', import.meta.url));
let dir: string;
let pos: string;

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'posidle-inspect-'));
  pos = join(dir, 'app.pos');
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

/** A log file, and the entry of it. */
function logged(name: string, text: string, position: number | null, at = dir) {
  const path = join(at, name);
  writeFileSync(path, text);
  return { path, position, inode: statSync(path).ino };
}

/** Runs a shell line; `posidle` in it is the built CLI. */
function shell(line: string, input?: string) {
  const script = `posidle() { "${process.execPath}" "${CLI}" "$@"; }\ncd "${dir}"\n${line}`;
  const { stdout, stderr, status } = spawnSync('bash', ['-c', script], { encoding: 'utf8', input });
  return { stdout, stderr, status };
}

describe('the table', () => {
  test('names every file with what is read and left, what is furthest behind first, and a verdict', async () => {
    const entries = [logged('a.log', 'one\n', 4), logged('b.log', `${'x'.repeat(4_095)}\n`, 1_024)];
    writeFileSync(pos, posText(entries));
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
      `behind | 3.0 KiB | 25% | 1024 | 4096 | ${entries[1]?.inode} | 0s | ${dir}/b.log`,
      `caught-up | 0 B | 100% | 4 | 4 | ${entries[0]?.inode} | 0s | ${dir}/a.log`,
      '',
      'total: 2 files, 4.0 KiB, 25% read, 3.0 KiB left',
      'behind by 3.0 KiB in 1 of 2 files',
      '',
    ]);
    expect(code).toBe(0);
  });

  test('can be sorted and filtered, the verdict is of all', async () => {
    writeFileSync(
      pos,
      posText([logged('a.log', 'one\n', 4), logged('b.log', 'one\n', 0), logged('c.log', 'o', 0)]),
    );
    const sorted = await posidle('inspect', pos, '--sort', 'file');
    expect(sorted.stdout.match(/[abc]\.log/g)).toEqual(['a.log', 'b.log', 'c.log']);
    const some = await posidle('inspect', pos, '--state', 'behind,partial-line');
    expect(some.stdout.match(/[abc]\.log/g)).toEqual(['b.log', 'c.log']);
    expect(some.stdout).toMatch(/behind by 5 B in 2 of 3 files/);
  });

  test('tells unparsable lines with their numbers and why', async () => {
    writeFileSync(pos, `rubbish\n${posText([logged('a.log', 'one\n', 4)])}/x\tyy\t1\n\n${'\0'.repeat(9)}\n`);
    const { stdout, code } = await posidle('inspect', pos);
    expect(stdout).toMatch(/line 1 cannot be parsed, it holds no tab: rubbish\n/);
    expect(stdout).toMatch(
      /line 3 cannot be parsed, its position is no hexadecimal number: \/x\\x09yy\\x091\n/,
    );
    expect(stdout).toMatch(/line 4 cannot be parsed, it is empty: \n/);
    expect(stdout).toMatch(/line 5 cannot be parsed, nothing but NUL bytes.*: (\\x00){9}\n/);
    expect(code).toBe(0);
  });

  test('shows control, bidirectional and broken characters escaped', async () => {
    const names = ['a\u001b[31m', 'b\u202e', 'c\r', 'd\u0007'].map((path) => ({
      path,
      position: 0,
      inode: 1,
    }));
    const bytes = Buffer.concat([Buffer.from(posText(names)), Buffer.from('e\xff\t0\t1\n', 'latin1')]);
    writeFileSync(pos, bytes);
    const { stdout } = await posidle('inspect', pos);
    expect(stdout).toMatch(/a\\x1b\[31m\n[\s\S]*b\\u202e\n[\s\S]*c\\x0d\n[\s\S]*d\\x07\n[\s\S]*e\\xff\n/);
    expect(stdout).toMatch(/^[^\p{Cc}\p{Bidi_Control}]*$/mu);
  });

  test('has colours where they are wanted, and none with NO_COLOR, --no-color or a pipe', () => {
    writeFileSync(pos, posText([logged('a.log', 'one\n', 4)]));
    const colored = '\x1b[32m';
    expect(shell('posidle inspect app.pos').stdout).not.toContain('\x1b');
    expect(shell('posidle inspect app.pos --color').stdout).toContain(colored);
    expect(shell('script -qec "$(declare -f posidle); posidle inspect app.pos" /dev/null').stdout).toContain(
      colored,
    );
    for (const without of ['NO_COLOR=1', 'TERM=dumb', 'POSIDLE_COLOR=false'])
      expect(
        shell(`${without} script -qec "$(declare -f posidle); posidle inspect app.pos" /dev/null`).stdout,
      ).not.toContain('\x1b');
    expect(shell('posidle inspect app.pos --plain --color').stdout).not.toContain('\x1b');
  });

  test.each([80, 60, 40])(
    'of %d columns wraps nowhere, and never loses the end of a name',
    async (columns) => {
      const context = { skip: (note: string) => expect.fail(note) };
      requireTmux(context);
      const names = [
        `${'long-'.repeat(40)}the-end.log`,
        'ファイル'.repeat(20),
        '👩‍👩‍👧'.repeat(12),
        'evil\u001b[2J'.repeat(9),
      ];
      writeFileSync(
        pos,
        posText([
          ...names.map((name, at) => ({
            path: `/var/log/${name}`,
            position: 123_456_789_012,
            inode: 2 ** 50 + at,
          })),
          logged('a.log', 'one\n', 0),
        ]) +
          'x'.repeat(300) +
          '\n',
      );
      const terminal = new Tmux({ columns, rows: 24 });
      try {
        terminal.posidle(`inspect ${pos} --sort file`);
        await until('the verdict', () => /^behind by at least/m.test(terminal.screen()));
        const shown = terminal.screen();
        expect(shown).toMatch(/…[\w-]*-?the-end\.log$/m);
        const lines = shown.split('\n');
        const from = lines.findIndex((line) => /STATE/.test(line));
        const to = lines.findIndex((line, at) => at > from && /^behind by/.test(line));
        // Title, five rows, one unparsable line, an empty one, the total.
        expect(to - from).toBe(9);
      } finally {
        terminal.kill();
      }
    },
  );

  test('with --plain is a sentence a file, the verdict first', async () => {
    const entry = logged('a.log', 'one\ntwo\n', 4);
    writeFileSync(pos, posText([entry]));
    const { stdout } = await posidle('inspect', pos, '--plain');
    expect(stdout.split('\n')).toEqual([
      'behind by 4 B in 1 of 1 file.',
      `Pos file ${pos}:`,
      expect.stringMatching(
        /^File .*a\.log: behind, 4 B left, 50% read, position 4, size 8, inode \d+, last moved/,
      ),
      '',
    ]);
  });
});

describe('for programs', () => {
  test('--json is what the library finds, in every state; --ndjson is the same a line an entry', async () => {
    const entries = [
      logged('caught-up.log', 'one\n', 4),
      logged('behind.log', 'one\ntwo\n', 4),
      logged('blocked.log', 'one\ntwo\n', 4),
      logged('rotated.log', 'one\ntwo\n', 4),
      logged('truncated.log', 'x', 9),
      logged('partial-line.log', 'one\ntwo', 4),
      { path: join(dir, 'missing.log'), position: 1, inode: '18446744073709551615' },
      { path: join(dir, 'unwatched.log'), position: null, inode: 3 },
    ];
    writeFileSync(pos, `${posText([...entries, ...entries])}bad\n`);
    renameSync(join(dir, 'rotated.log'), join(dir, 'rotated.log.1'));
    writeFileSync(join(dir, 'rotated.log'), 'new\n');
    writeFileSync(join(dir, 'undiscovered.log'), 'new\n');
    for (const path of [pos, join(dir, 'blocked.log')]) utimesSync(path, 1, 1);
    const source = `@type tail\npath ${dir}/*.log\npos_file ${pos}\ntag a\n<parse>\n@type none\n</parse>`;
    const conf = join(dir, 'fluent.conf');
    writeFileSync(conf, `<source>\n${source}\n</source>\n`);

    const { stdout, code } = await posidle('inspect', '-c', conf, '--json');
    expect(code).toBe(0);
    const found = JSON.parse(stdout);
    expect(await inspectByApi({ fluentConf: conf })).toEqual(found);
    expect(found).toMatchObject({ lag: null, caughtUp: false });
    for (const { path, state } of found.posFiles[0].entries) expect(path).toBe(join(dir, `${state}.log`));
    expect(found.posFiles[0].entries).toHaveLength(entries.length);
    expect(found.undiscovered).toEqual([{ path: join(dir, 'undiscovered.log'), size: 4 }]);
    const lines = (await posidle('inspect', '-c', conf, '--ndjson')).stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(lines).toEqual([
      ...found.posFiles[0].entries.map((entry: object) => ({ posFile: pos, ...entry })),
      { posFile: pos, unparsable: { line: 17, text: 'bad' } },
      expect.objectContaining({ posFile: pos, path: join(dir, 'undiscovered.log'), state: 'undiscovered' }),
    ]);
  });

  test('the library names what cannot be inspected, as --json does', async () => {
    const posFiles = [dir, join(dir, 'none.pos')];
    const found = await inspectByApi({ posFiles });
    expect(found).toEqual(JSON.parse((await posidle('inspect', ...posFiles, '--json')).stdout));
    expect(found.posFiles.map(({ error }) => error)).toEqual([
      'it is a directory, and no pos file',
      'there is no such file',
    ]);
  });

  test('--raw reads what stands in a file from elsewhere, also through stdin', async () => {
    writeFileSync(
      pos,
      posText([
        { path: '/elsewhere', position: 5, inode: 6 },
        { path: '/u', position: null, inode: 7 },
      ]),
    );
    const { stdout, status } = shell('cat app.pos | posidle inspect - --raw --json');
    expect(status).toBe(0);
    expect(JSON.parse(stdout)).toEqual({
      posFiles: [
        {
          path: '-',
          entries: [
            { path: '/elsewhere', position: 5, inode: '6', size: null, lag: null, state: null },
            { path: '/u', position: null, inode: '7', size: null, lag: null, state: null },
          ],
          unparsable: [],
        },
      ],
      undiscovered: [],
      lag: null,
      caughtUp: false,
    });
    expect(shell('posidle inspect <(sleep 0.3; cat app.pos) --raw').stdout).toMatch(/unwatched +7 +\/u\n/);
  });

  test('--root looks below it, and follows absolute symlinks below it', () => {
    const root = join(dir, 'node');
    mkdirSync(join(root, 'var/log/containers'), { recursive: true });
    mkdirSync(join(root, 'pods/0'), { recursive: true });
    const entry = logged('0.log', 'one\ntwo\n', 4, join(root, 'pods/0'));
    symlinkSync('/pods/0/0.log', join(root, 'var/log/containers/app.log'));
    symlinkSync('../var/./log', join(root, 'var/logs'));
    writeFileSync(
      join(root, 'var/app.pos'),
      posText([
        { ...entry, path: '/var/logs/containers/app.log' },
        { ...entry, path: '/var/log/../../pods/0/0.log' },
      ]),
    );
    const { stdout, status } = shell('posidle inspect --root node /var/app.pos --json');
    expect(status).toBe(0);
    const [posFile] = JSON.parse(stdout).posFiles;
    expect(posFile.path).toBe('/var/app.pos');
    expect(posFile.entries).toMatchObject([
      { path: '/var/logs/containers/app.log', size: 8, lag: 4, state: 'behind' },
      { path: '/var/log/../../pods/0/0.log', size: 8, lag: 4, state: 'behind' },
    ]);
  });

  test('--root and a configuration: pos files, undiscovered files and chunks below it', () => {
    const root = join(dir, 'node');
    mkdirSync(join(root, 'etc'), { recursive: true });
    mkdirSync(join(root, 'logs'));
    const entry = logged('a.log', 'one\n', 4, join(root, 'logs'));
    logged('new.log', 'new\n', 0, join(root, 'logs'));
    writeFileSync(join(root, 'app.pos'), posText([{ ...entry, path: '/logs/a.log' }]));
    mkdirSync(join(root, 'buffer'));
    writeFileSync(join(root, 'buffer', `buffer.b${'0'.repeat(32)}.log`), 'chunk');
    writeFileSync(
      join(root, 'etc/fluent.conf'),
      `<source>\n@type tail\npath /logs/*.log\npos_file /app.pos\ntag a\n<parse>\n@type none\n</parse>\n</source>
       <match a>\n@type file\npath /out\n<buffer>\n@type file\npath /buffer\n</buffer>\n</match>\n`,
    );
    const { stdout, status } = shell('posidle inspect --root node -c /etc/fluent.conf');
    expect(status).toBe(0);
    expect(stdout).toMatch(/caught-up .* \/logs\/a\.log\n/);
    expect(stdout).toMatch(/undiscovered: 1 file; in_tail looks for new ones every 60 s/);
    expect(stdout).toMatch(/undiscovered +4 B .* \/logs\/new\.log\n/);
    expect(stdout).toMatch(/buffers: 1 chunk \(5 B\) on disk\n/);
    expect(stdout).toMatch(/behind by 4 B in 1 of 2 files\n/);
  });

  test('--check says why in one line', async () => {
    writeFileSync(pos, posText([logged('a.log', 'one\ntwo\n', 4)]));
    expect(await posidle('inspect', pos, '--check')).toMatchObject({
      code: 1,
      stdout: 'behind by 4 B in 1 of 1 file; 0 B may be left\n',
    });
    expect((await posidle('inspect', pos, '--check', '--max-lag', '4')).code).toBe(0);
    expect((await posidle('inspect', pos, '--check', '--max-age', '1h')).code).toBe(0);
    const missing = await posidle('inspect', pos, join(dir, 'no.pos'), '--check', '--max-lag', '1GiB');
    expect(missing).toMatchObject({
      code: 1,
      stdout: expect.stringMatching(/^not known: .*no\.pos: there is no such file; .*\n$/),
    });
  });
});

describe('bad input is named, the rest is shown, and there is no stack', () => {
  const bad: readonly (readonly [string, () => string, RegExp])[] = [
    ['a directory', () => dir, /it is a directory, and no pos file/],
    ['a binary file', () => process.execPath, /it is no pos file: its first 64\.0 KiB/],
    ['a small binary file', () => made('\0\x01\x02\n\xff'), /it is no pos file: 1 line, none of path/],
    ['a file without a whole line', () => made('no newline'), /it is no pos file: it holds no whole line/],
    ['a file of 1 GiB', () => truncated(made(''), 2 ** 30), /it is too large for a pos file: 1\.0 GiB/],
    [
      'a file of 300 MiB without a line',
      () => truncated(made(''), 300 * 2 ** 20),
      /its first 64\.0 KiB hold no line/,
    ],
    ['a device', () => '/dev/zero', /its first 64\.0 KiB hold no line/],
    ['a file that is not there', () => join(dir, 'none.pos'), /there is no such file/],
    ['links in a circle', () => circle(), /its symbolic links lead round in a circle/],
    ['a path below a file', () => join(made('x'), 'y'), /there is no such file/],
  ];
  const made = (text: string) => {
    const path = join(dir, 'bad.pos');
    writeFileSync(path, text, 'latin1');
    return path;
  };
  const truncated = (path: string, size: number) => {
    truncateSync(path, size);
    return path;
  };
  const circle = () => {
    symlinkSync('circle', join(dir, 'circle'));
    return join(dir, 'circle');
  };

  test.each(bad)('%s', async (_, make, why) => {
    writeFileSync(pos, posText([logged('a.log', 'one\n', 4)]));
    const { stdout, stderr, code } = await posidle('inspect', make(), pos);
    expect(stdout).toMatch(why);
    expect(stdout).toMatch(/caught-up .*a\.log/);
    expect({ code, stderr }).toEqual({ code: 1, stderr: '' });
  });

  test('files that may not be read, pos file and log file alike', () => {
    writeFileSync(pos, posText([logged('a.log', 'one\n', 4), logged('b.log', 'one\n', 0)]));
    mkdirSync(join(dir, 'closed'));
    const closed = logged('c.log', 'one\n', 0, join(dir, 'closed'));
    writeFileSync(join(dir, 'more.pos'), posText([closed]));
    writeFileSync(join(dir, 'closed.pos'), posText([closed]));
    chmodSync(join(dir, 'b.log'), 0o000);
    chmodSync(join(dir, 'closed'), 0o000);
    chmodSync(join(dir, 'closed.pos'), 0o000);
    // Root reads everything, unless it is stripped of its capabilities.
    const stripped = process.getuid?.() === 0 ? 'setpriv --bounding-set=-all --inh-caps=-all' : '';
    const { stdout, stderr, status } = shell(
      `${stripped} "${process.execPath}" "${CLI}" inspect closed.pos more.pos app.pos`,
    );
    expect(stdout).toMatch(/closed\.pos\n {2}cannot be inspected: permission denied/);
    expect(stdout).toMatch(/cannot look at .*c\.log: permission denied/);
    expect(stdout).toMatch(/behind .*b\.log\n[\s\S]*caught-up .*a\.log\n/);
    expect({ status, stderr }).toEqual({ status: 1, stderr: '' });
  });

  test('a path with a NUL byte', async () => {
    writeFileSync(pos, posText([{ path: '/a\0b', position: 1, inode: 1 }]));
    const { stdout, code } = await posidle('inspect', pos);
    expect(stdout).toMatch(/cannot look at \/a\\x00b: its path holds a NUL byte/);
    expect(code).toBe(1);
  });

  test.each([
    ['--state', 'lost', /--state: 'lost' is no state; write some of caught-up,/],
    ['--sort', 'mood', /Choices: "lag", "file"/],
    ['--max-lag', 'much', /--max-lag: 'much' is no size/],
    ['--max-age', 'old', /--max-age: 'old' is no duration/],
    ['--json', '--ndjson', /--json and --ndjson: give only one of them/],
    ['--raw', '--check', /--raw and --check/],
  ])('%s %s is bad usage', async (name, value, why) => {
    writeFileSync(pos, '');
    const { stderr, code } = await posidle('inspect', pos, name, value);
    expect(stderr).toMatch(why);
    expect(stderr).not.toMatch(/\n\s+at /);
    expect(code).toBe(2);
  });
});

describe('an output that takes no more', () => {
  beforeEach(() =>
    writeFileSync(
      pos,
      posText(Array.from({ length: 50_000 }, (_, at) => ({ path: `/${at}`, position: 1, inode: at }))),
    ),
  );

  test.each(['', '--json', '--ndjson', '--plain'])('ends `inspect %s | head -1` without a word', (args) => {
    const { stdout, stderr } = shell(`posidle inspect app.pos ${args} | head -1; echo \${PIPESTATUS[0]}`);
    expect(stdout.split('\n')).toHaveLength(3);
    expect(stdout).toMatch(/\n0\n$/);
    expect(stderr).toBe('');
  });

  test('is named where the disk is full', () => {
    const { stderr, status } = shell('posidle inspect app.pos > /dev/full');
    expect(stderr).toMatch(/^posidle: cannot write to stdout: ENOSPC.*\n$/);
    expect(status).toBe(1);
  });

  test('does no harm where stdout is closed', () => {
    expect(shell('posidle inspect app.pos >&-')).toMatchObject({ stderr: '', status: 0 });
  });
});

describe('a large pos file', () => {
  const write = (count: number) => {
    const lines: string[] = [];
    for (let at = 0; at < count; at += 1)
      lines.push(
        `/var/log/containers/app-${at}_default_main-0123456789abcdef.log\t${hex(at)}\t${hex(at + 1)}\n`,
      );
    writeFileSync(pos, lines.join(''));
  };
  const hex = (value: number) => value.toString(16).padStart(16, '0');
  /** Processor seconds, for others may be at work on this machine, and KiB at most. */
  const measured = () => {
    const tell = 'process.on("exit",()=>process.stderr.write(JSON.stringify(process.resourceUsage())))';
    const { status, stderr } = shell(
      `"${process.execPath}" --import 'data:text/javascript,${tell}' "${CLI}" inspect app.pos > out`,
    );
    const { userCPUTime, systemCPUTime, maxRSS } = JSON.parse(stderr);
    return { status, seconds: (userCPUTime + systemCPUTime) / 1e6, kibibytes: maxRSS };
  };

  test('of 100,000 entries is parsed back equal from --json', async () => {
    write(100_000);
    const { stdout } = await posidle('inspect', pos, '--json');
    const [posFile] = JSON.parse(stdout).posFiles;
    expect(posFile.entries).toHaveLength(100_000);
    expect(posFile.entries[99_999]).toEqual({
      path: '/var/log/containers/app-99999_default_main-0123456789abcdef.log',
      position: 99_999,
      inode: '100000',
      size: null,
      lag: null,
      state: 'missing',
    });
  });

  test('of 1,000,000 entries takes seconds, and stays below 512 MiB', () => {
    write(1_000_000);
    const { status, seconds, kibibytes } = measured();
    expect(status).toBe(0);
    expect(seconds).toBeLessThan(10);
    expect(kibibytes).toBeLessThan(512 * 1024);
  });
});

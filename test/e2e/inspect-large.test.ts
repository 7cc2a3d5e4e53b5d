import { mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { posText } from '../support/builders.ts';
import { CLI, loggedIn, posidle, SLOW_STATS, shellIn } from '../support/posidle.ts';

let dir: string;
let pos: string;

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'posidle-inspect-'));
  pos = join(dir, 'app.pos');
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const logged = (name: string, text: string, position: number | null, at = dir) =>
  loggedIn(at, name, text, position);
const shell = (line: string, input?: string) => shellIn(dir, line, input);

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
  const measured = (args: string) => {
    const tell = 'process.on("exit",()=>process.stderr.write(JSON.stringify(process.resourceUsage())))';
    const { status, stderr } = shell(
      `"${process.execPath}" --import 'data:text/javascript,${tell}' "${CLI}" inspect app.pos ${args} > out`,
    );
    return { status, kibibytes: JSON.parse(stderr).maxRSS };
  };

  test('of 20,000 entries is parsed back equal from --json', async () => {
    const expected = Array.from({ length: 20_000 }, (_, at) => {
      const entry = {
        path: `/var/log/"${at}"\\é\u001b\u009b\u202e日.log`,
        position: 3 * at,
        inode: String(2 ** 40 + at),
      };
      if (at % 100 === 1) return { ...entry, position: null, size: null, lag: 0, state: 'unwatched' };
      if (at % 100 !== 2) return { ...entry, size: null, lag: null, state: 'missing' };
      const { path, inode } = logged(`${at}.log`, 'one\ntwo\n', 0);
      const position = at % 200 === 2 ? 8 : 4;
      utimesSync(path, 1, 1);
      const state = position === 8 ? 'caught-up' : 'blocked';
      return { path, position, inode: String(inode), size: 8, lag: 8 - position, state };
    });
    writeFileSync(pos, posText(expected));
    utimesSync(pos, 1, 1);
    const { stdout } = await posidle('inspect', pos, '--json');
    expect(JSON.parse(stdout)).toMatchObject({
      posFiles: [
        {
          ...{ path: pos, entries: expected, unparsable: [] },
          findings: [expect.objectContaining({ what: 'dead', count: 200 })],
        },
      ],
      undiscovered: [],
      lag: null,
      knownLag: 4 * 100,
      unknownFiles: 19_600,
      caughtUp: false,
    });
  });

  test.each(['', '--json'])('of 1,000,000 entries stays below 400 MiB: inspect %s', (args) => {
    write(1_000_000);
    const { status, kibibytes } = measured(args);
    expect(status).toBe(0);
    expect(kibibytes).toBeLessThan(400 * 1024);
  });
});

describe('a look that takes longer than a second', () => {
  beforeEach(() =>
    writeFileSync(
      pos,
      posText(Array.from({ length: 300 }, (_, at) => ({ path: `${dir}/${at}`, position: null, inode: at }))),
    ),
  );

  test('tells a terminal how far it is, wipes that away, and leaves stdout alone', () => {
    const { stdout, status } = shell(
      `${SLOW_STATS} script -qec "$(declare -f posidle); posidle inspect app.pos --json > out" /dev/null; cat out`,
    );
    const start = stdout.indexOf('{');
    const told = stdout.slice(0, start).split('\x1b[K');
    expect(told.splice(-2)).toEqual(['\r', '']);
    expect(told.length).toBeGreaterThan(0);
    for (const line of told) expect(line).toMatch(/^\rlooked at \d+ of 300 files \(\d+%\)$/);
    expect(JSON.parse(stdout.slice(start)).posFiles[0].entries).toHaveLength(300);
    expect(status).toBe(0);
  });

  test('says nothing where no terminal would show it', () => {
    const { stdout, stderr } = shell(`${SLOW_STATS} posidle inspect app.pos --ndjson`);
    expect(stdout.trim().split('\n')).toHaveLength(300);
    expect(stderr).toBe('');
  });
});

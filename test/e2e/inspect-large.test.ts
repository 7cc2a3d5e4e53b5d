import { utimesSync, writeFileSync } from 'node:fs';
import { beforeEach, describe, expect, test } from 'vitest';
import { posText } from '../support/builders.ts';
import { inspectedDir } from '../support/inspected-dir.ts';
import { CLI, posidle } from '../support/posidle.ts';

const { at: inDir, logged, shell } = inspectedDir();
let pos: string;

beforeEach(() => {
  pos = inDir('app.pos');
});

describe('a large pos file', () => {
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

  test('of 1,000,000 entries is refused below 400 MiB', () => {
    const hex = (value: number) => value.toString(16).padStart(16, '0');
    const line = (_: unknown, at: number) =>
      `/var/log/containers/app-${at}_default_main-0123456789abcdef.log\t${hex(at)}\t${hex(at + 1)}\n`;
    writeFileSync(pos, Array.from({ length: 1_000_000 }, line).join(''));
    const tell = 'process.on("exit",()=>process.stderr.write(JSON.stringify(process.resourceUsage())))';
    const { status, stderr } = shell(
      `"${process.execPath}" --import 'data:text/javascript,${tell}' "${CLI}" inspect app.pos > out`,
    );
    expect(status).toBe(1);
    expect(JSON.parse(stderr).maxRSS).toBeLessThan(400 * 1024);
  });
});

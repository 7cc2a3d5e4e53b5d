import { lstatSync, mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { DEFAULT_POLICY } from '../../src/core/drain/defaults.ts';
import { filesIn } from '../../src/core/inspect/found.ts';
import { Paces } from '../../src/core/inspect/paces.ts';
import { summaryOf } from '../../src/core/inspect/summary.ts';
import type { Subject } from '../../src/core/look/subject.ts';
import { observe } from '../../src/core/observe/observe.ts';
import { Collector } from '../../src/daemon/collect.ts';
import { NodeHost } from '../../src/node/node-host.ts';
import { Inspector } from '../../src/tasks/inspect-look.ts';
import { inspectSubject } from '../../src/tasks/inspect-subject.ts';
import { RUNS } from '../support/arbitraries.ts';
import { posText } from '../support/builders.ts';

let dir: string;

beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'posidle-look-'));
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const ABSENT = { kind: 'absent', why: 'no Fluentd runs' } as const;
const host = new NodeHost();

async function inspector(pos: string, { raw = false, paces }: { raw?: boolean; paces?: Paces } = {}) {
  const wanted = { posFiles: [pos], fluentConf: undefined, raw, root: undefined, witness: undefined };
  return new Inspector(host, await inspectSubject(host, wanted), paces);
}

/** What a file's stamp tells is believed when it has stood for 2.5 s. */
class LaterHost extends NodeHost {
  lateness = 0;

  override now(): number {
    return super.now() + this.lateness;
  }
}

const text = fc.constantFrom('', 'one\n', 'one\ntwo', 'one\ntwo\n');
const file = fc.record({
  name: fc.constantFrom('a.log', 'b.log'),
  /** What stands at the path, and what was renamed. */
  now: fc.option(text, { nil: undefined }),
  before: fc.option(text, { nil: undefined }),
});
const line = fc.record({
  name: fc.constantFrom('a.log', 'b.log', 'no/a.log'),
  position: fc.constantFrom(0, 2, 4, 7, 8, 9, null),
  inode: fc.constantFrom('now', 'before', '0', '18446744073709551615'),
});
/** The last line is cut off; the paths are symlinks to where files are renamed, as /var/log/containers is full of. */
const how = fc.record({ torn: fc.boolean(), linked: fc.boolean() });

test('inspect finds what the daemon finds in the same directory: entries, states and lags', async () => {
  let runs = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(file), fc.array(line), how, async (files, lines, { torn, linked }) => {
      runs += 1;
      const logs = join(dir, String(runs));
      mkdirSync(join(logs, 'links'), { recursive: true });
      for (const { name, now, before } of files) {
        if (before !== undefined) writeFileSync(join(logs, `${name}.1`), before);
        if (now !== undefined) writeFileSync(join(logs, name), now);
        linkTo(`../${name}`, join(logs, 'links', name));
      }
      const inodeOf = (path: string) => statSync(path, { throwIfNoEntry: false })?.ino ?? 1;
      const entries = lines.map(({ name, position, inode }) => {
        const own = join(logs, name);
        const known: Readonly<Record<string, number>> = { now: inodeOf(own), before: inodeOf(`${own}.1`) };
        return { path: linked ? join(logs, 'links', name) : own, position, inode: known[inode] ?? inode };
      });
      const whole = posText(entries);
      const pos = join(logs, 'app.pos');
      writeFileSync(pos, torn ? whole.slice(0, -20) : whole);
      const subject: Subject = {
        ...{ posFiles: [pos], fluentd: { by: 'search' }, conf: undefined },
        doneProcess: undefined,
      };
      const snapshot = await new Collector(host, subject).look('all', ABSENT);
      const seen = observe(undefined, snapshot, DEFAULT_POLICY);
      const found = await (await inspector(pos)).look();
      const shown = ({ movedAt: _, ...rest }: (typeof seen.files)[number]) => rest;
      expect(found.judged?.seen.files.map(shown)).toEqual(seen.files.map(shown));
    }),
    { ...RUNS, numRuns: 200 },
  );
});

function linkTo(target: string, path: string): void {
  if (lstatSync(path, { throwIfNoEntry: false }) === undefined) symlinkSync(target, path);
}

/** A log file that is read up to the position, and its pos file. */
function logged(name: string, content: string, position: number): string {
  const [log, pos] = [join(dir, `${name}.log`), join(dir, `${name}.pos`)];
  writeFileSync(log, content);
  writeFileSync(pos, posText([{ path: log, position, inode: statSync(log).ino }]));
  return pos;
}

test('a look that finds nothing changed hands over the same observation of each file', async () => {
  const later = new LaterHost();
  const wanted = {
    posFiles: [logged('rest', 'one\n', 4)],
    fluentConf: undefined,
    raw: false,
    root: undefined,
  };
  const subject = await inspectSubject(later, { ...wanted, witness: undefined });
  const inspected = new Inspector(later, subject, new Paces());
  const looks = [];
  for (; looks.length < 4; later.lateness += 3_000) looks.push(filesIn(await inspected.look())[0]);
  expect(looks[3]).toBe(looks[2]);
});

test.each([
  ['', 'it is empty for now', true],
  ['no newline', 'it cannot be read: it is no pos file: it holds no whole line', false],
  ['one\ntwo\n', 'it cannot be read: it is no pos file: 2 lines, none of path, position and inode', false],
])('a pos file that holds %j says why it cannot be believed', async (content, error, isEmpty) => {
  const pos = join(dir, 'odd.pos');
  writeFileSync(pos, content);
  expect((await (await inspector(pos)).look()).posFiles).toMatchObject([
    { path: pos, error, isEmpty, files: [] },
  ]);
});

test.each([true, false])(
  'the first 100,000 lines of a pos file are looked at, the rest is counted (raw: %s)',
  async (raw) => {
    const pos = join(dir, 'long.pos');
    writeFileSync(pos, posText([{ path: join(dir, 'none.log'), position: 4, inode: 1 }]).repeat(100_007));
    const found = await (await inspector(pos, { raw })).look();
    expect(found.posFiles).toMatchObject([{ more: 7, files: [{ position: 4 }] }]);
    expect(summaryOf(found)).toMatch(/; 7 lines not looked at$/);
    expect(found.caughtUp).toBe(false);
    expect(found.unlisted).toEqual(
      raw ? [] : [`posidle cannot tell which files belong to ${pos}: 7 lines of it are not looked at`],
    );
  },
);

/** What a look tells of itself. */
async function toldOf(pos: string, raw = false): Promise<readonly string[]> {
  const inspected = await inspector(pos, { raw });
  const told: string[] = [];
  inspected.onProgress = (text, isLong) => told.push(`${isLong ? 'at once: ' : ''}${text()}`);
  await inspected.look();
  return told;
}

test('a look tells how far it is with a log that it has to search for a newline', async () => {
  expect(await toldOf(logged('long\u009b', '\0'.repeat(256 * 1024), 0))).toContain(
    `searched 64.0 KiB of 256.0 KiB for a newline: ${dir}/long\\x9b.log`,
  );
});

test('a look at a large pos file tells at once that it is read', async () => {
  const pos = join(dir, 'large.pos');
  writeFileSync(pos, posText([{ path: '/a'.padEnd(4_061, 'x'), position: 0, inode: 1 }]).repeat(4_096));
  expect(await toldOf(pos, true)).toEqual([`at once: reading 16.0 MiB: ${pos}`]);
});

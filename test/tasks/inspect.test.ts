import { lstatSync, mkdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { DEFAULT_POLICY } from '../../src/core/drain/policy.ts';
import { filesIn } from '../../src/core/inspect/found.ts';
import { Rates } from '../../src/core/inspect/rates.ts';
import { observe } from '../../src/core/look/observe.ts';
import { Collector } from '../../src/daemon/collect.ts';
import { NodeHost } from '../../src/node/node-host.ts';
import { Inspector, inspectSubject } from '../../src/tasks/inspect.ts';
import { RUNS } from '../support/arbitraries.ts';
import { ABSENT, posText, subject } from '../support/builders.ts';
import { tempDir } from '../support/temp-dir.ts';

const inDir = tempDir();

const host = new NodeHost();

async function inspector(pos: string, by = host, rates?: Rates) {
  return new Inspector(by, await inspectSubject(by, { posFiles: [pos], fluentConf: undefined }), rates);
}

/** posidle trusts a file's stamp after 2.5 s. */
class LaterHost extends NodeHost {
  lateness = 0;

  override now(): number {
    return super.now() + this.lateness;
  }
}

const text = fc.constantFrom('', 'one\n', 'one\ntwo', 'one\ntwo\n');
const file = fc.record({
  name: fc.constantFrom('a.log', 'b.log'),
  /** The file at the path, and the renamed one. */
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
      const logs = inDir(String(runs));
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
      const snapshot = await new Collector(host, subject({ posFiles: [pos] })).look('all', {
        fluentd: ABSENT,
        sign: 'unknown',
        question: 'look',
      });
      const seen = observe(undefined, snapshot, DEFAULT_POLICY);
      const found = await (await inspector(pos)).look();
      const shown = ({ movedAt: _, leftSince: __, ...rest }: (typeof seen.files)[number]) => rest;
      expect(found.seen.files.map(shown)).toEqual(seen.files.map(shown));
    }),
    { ...RUNS, numRuns: 200 },
  );
});

function linkTo(target: string, path: string): void {
  if (lstatSync(path, { throwIfNoEntry: false }) === undefined) symlinkSync(target, path);
}

/** The pos file of a log that is read. */
function readToItsEnd(name: string): string {
  const [log, pos] = [inDir(`${name}.log`), inDir(`${name}.pos`)];
  writeFileSync(log, 'one\n');
  writeFileSync(pos, posText([{ path: log, position: 4, inode: statSync(log).ino }]));
  return pos;
}

test('a look that finds nothing changed hands over the same observation of each file', async () => {
  const later = new LaterHost();
  const inspected = await inspector(readToItsEnd('rest'), later, new Rates());
  const looks = [];
  for (; looks.length < 4; later.lateness += 3_000) looks.push(filesIn(await inspected.look())[0]);
  expect(looks[3]).toBe(looks[2]);
});

test.each([
  ['', 'it is empty for now', true],
  ['no newline', 'it is no pos file: it has no whole line', false],
  ['one\n', 'it is no pos file: its one line has no path, position and inode', false],
  ['one\ntwo\n', 'it is no pos file: none of its 2 lines has path, position and inode', false],
])('a pos file that holds %j says why it cannot be believed', async (content, error, isEmpty) => {
  const pos = inDir('odd.pos');
  writeFileSync(pos, content);
  const { posFiles } = await (await inspector(pos)).look();
  expect(posFiles).toMatchObject([{ path: pos, error, isEmpty, files: [] }]);
});

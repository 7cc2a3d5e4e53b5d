import { lstatSync, mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { DEFAULT_POLICY } from '../../src/core/drain/policy.ts';
import { inspectionOf, whole } from '../../src/core/inspect/inspection.ts';
import { observe } from '../../src/core/observe/observe.ts';
import { collect } from '../../src/daemon/collect.ts';
import { NodeHost } from '../../src/node/node-host.ts';
import { Inspector } from '../../src/tasks/inspect-look.ts';
import { inspectSubject } from '../../src/tasks/inspect-subject.ts';
import { RUNS } from '../support/arbitraries.ts';
import { ABSENT, posText, subject } from '../support/builders.ts';

let dir: string;

beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'posidle-look-'));
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

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

test('inspect finds what the daemon finds in the same directory: entries, states, lags, unparsable lines', async () => {
  const host = new NodeHost();
  let runs = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(file), fc.array(line), how, async (files, lines, { torn, linked }) => {
      runs += 1;
      const logs = join(dir, String(runs));
      mkdirSync(logs);
      for (const { name, now, before } of files) {
        if (before !== undefined) writeFileSync(join(logs, `${name}.1`), before);
        if (now !== undefined) writeFileSync(join(logs, name), now);
      }
      const inodeOf = (path: string) => statSync(path, { throwIfNoEntry: false })?.ino ?? 1;
      mkdirSync(join(logs, 'links'));
      for (const { name } of files) linkTo(`../${name}`, join(logs, 'links', name));
      const entries = lines.map(({ name, position, inode }) => {
        const inodes = { now: inodeOf(join(logs, name)), before: inodeOf(join(logs, `${name}.1`)) };
        const path = join(logs, linked ? 'links' : '', name);
        return { path, position, inode: inode === 'now' || inode === 'before' ? inodes[inode] : inode };
      });
      const pos = join(logs, 'app.pos');
      writeFileSync(pos, posText(entries) + (torn ? 'torn\n/b\t1' : ''));

      const posFiles = [pos];
      const view = { fluentd: ABSENT, depth: 'positions' } as const;
      const snapshot = await collect(host, subject({ posFiles }), view);
      const { files: watched, unknown, readSince } = observe(undefined, snapshot, DEFAULT_POLICY);
      const wanted = await inspectSubject(host, {
        posFiles,
        fluentConf: undefined,
        raw: false,
        root: undefined,
      });
      const found = whole(inspectionOf(await new Inspector(host, wanted).look()));

      const shown = watched.map(({ movedAt: _, read: __, posFile: ___, ...entry }) => entry);
      expect(found.posFiles[0]?.entries).toEqual(shown);
      if (unknown.length === 0 && found.posFiles[0]?.error === undefined)
        expect(found.caughtUp).toBe(readSince !== undefined);
      const unparsable = found.posFiles[0]?.unparsable ?? [];
      const tornLine = torn ? [{ line: entries.length + 2, text: '/b\t1' }] : [];
      for (const reading of snapshot.posFiles)
        if (reading.kind === 'read') expect(unparsable).toEqual([...reading.unparsable, ...tornLine]);
    }),
    RUNS,
  );
});

function linkTo(target: string, path: string): void {
  if (lstatSync(path, { throwIfNoEntry: false }) === undefined) symlinkSync(target, path);
}

import { statSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { filesIn } from '../../src/core/inspect/found.ts';
import { Rates } from '../../src/core/inspect/rates.ts';
import { NodeHost } from '../../src/node/node-host.ts';
import { Inspector, inspectSubject } from '../../src/tasks/inspect.ts';
import { posText } from '../support/builders.ts';
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

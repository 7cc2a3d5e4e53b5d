import { statSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { filesIn } from '../../src/core/inspect/found.ts';
import { Rates } from '../../src/core/inspect/rates.ts';
import { NodeHost } from '../../src/node/node-host.ts';
import { Inspector, inspectSubject } from '../../src/tasks/inspect.ts';
import { posText } from '../support/builders.ts';
import { tempDir } from '../support/temp-dir.ts';

const inDir = tempDir();

/** posidle trusts a file's stamp after 2.5 s. */
class LaterHost extends NodeHost {
  lateness = 0;

  override now(): number {
    return super.now() + this.lateness;
  }
}

test('a look that finds nothing changed hands over the same observation of each file', async () => {
  const [log, pos] = [inDir('a.log'), inDir('a.pos')];
  writeFileSync(log, 'one\n');
  writeFileSync(pos, posText([{ path: log, position: 4, inode: statSync(log).ino }]));
  const host = new LaterHost();
  const subject = await inspectSubject(host, { posFiles: [pos], fluentConf: undefined });
  const inspector = new Inspector(host, subject, new Rates());
  const looks = [];
  for (; looks.length < 4; host.lateness += 3_000) looks.push(filesIn(await inspector.look())[0]);
  expect(looks[3]).toBe(looks[2]);
});

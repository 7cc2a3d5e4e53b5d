import { writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { findPosFiles } from '../../src/tasks/find-conf.ts';
import { FakeHost } from '../support/fake-host.ts';
import { tempDir } from '../support/temp-dir.ts';

const inDir = tempDir();

const source = (posFile: string) => `<source>\n@type tail\npath /a.log\npos_file ${posFile}\n</source>\n`;
const RUBY = '"/#{Time.now.zone}.pos"';

function findIn(text: string) {
  const fluentConf = inDir('f.conf');
  writeFileSync(fluentConf, text);
  return findPosFiles(new FakeHost(), { posFiles: [], fluentConf });
}

test('an unevaluable value is reported with the remedy', async () => {
  const { warnings, conf } = await findIn(source('/a.pos') + source(RUBY));
  expect(warnings[0]).toMatch(/: pos_file .*: name the pos file to posidle$/);
  expect(conf?.hidden[0]).toBe(warnings[0]);
});

test('a configuration without a pos file that is known is refused, with each reason', async () => {
  await expect(findIn(source(RUBY))).rejects.toThrow(
    /^--fluent-conf: .*f\.conf: .*: pos_file .*; name the pos file with --pos-file$/,
  );
  await expect(findIn('')).rejects.toThrow(/no in_tail source in it has a pos_file; name the pos file/);
});

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { inFlags } from '../../src/commands/options/flag-wording.ts';
import { findPosFiles } from '../../src/tasks/find-pos-files.ts';
import { FakeHost } from '../support/fake-host.ts';

let dir: string;

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'posidle-pos-files-'));
});

afterEach(() => {
  rmSync(dir, { recursive: true, force: true });
});

const source = (posFile: string) => `<source>\n@type tail\npath /a.log\npos_file ${posFile}\n</source>\n`;
const RUBY = '"/#{Time.now.zone}.pos"';

function findIn(text: string, nameOptions?: (text: string) => string) {
  const fluentConf = join(dir, 'f.conf');
  writeFileSync(fluentConf, text);
  return findPosFiles(new FakeHost(), { posFiles: [], fluentConf, nameOptions });
}

test('what cannot be evaluated is told with the option that helps, as the caller calls it', async () => {
  const text = source('/a.pos') + source(RUBY);
  const ofLibrary = await findIn(text);
  expect(ofLibrary.warnings[0]).toMatch(/: pos_file .*: give `posFiles`$/);
  const ofCommand = await findIn(text, inFlags);
  expect(ofCommand.warnings[0]).toMatch(/: pos_file .*: give --pos-file$/);
  expect(ofCommand.conf?.hidden[0]).toBe(ofCommand.warnings[0]);
});

test('a configuration without a pos file that is known is refused, with each reason', async () => {
  await expect(findIn(source(RUBY))).rejects.toThrow(
    /^`fluentConf`: .*f\.conf: .*: pos_file .*; name the pos file with `posFiles`$/,
  );
  await expect(findIn('')).rejects.toThrow(/no in_tail source in it has a pos_file; name the pos file/);
});

import { writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { type ConfWanted, findPosFiles } from '../../src/tasks/find-conf.ts';
import { FakeHost } from '../support/fake-host.ts';
import { tempDir } from '../support/temp-dir.ts';

const inDir = tempDir();

const source = (posFile: string) => `<source>\n@type tail\npath /a.log\n${posFile}\n</source>\n`;
const KNOWN = source('pos_file /a.pos');
const RUBY = source('pos_file "/#{Time.now.zone}.pos"');
const AGGREGATOR = '<source>\n@type forward\n</source>\n<match **>\n@type stdout\n</match>\n';

function findIn(text: string, wanted: Partial<ConfWanted> = {}) {
  const fluentConf = inDir('f.conf');
  writeFileSync(fluentConf, text);
  return findPosFiles(new FakeHost(), { posFiles: [], fluentConf, ...wanted });
}

test('an unevaluable value is reported with the remedy', async () => {
  const { warnings, conf } = await findIn(KNOWN + RUBY);
  expect(warnings[0]).toMatch(/: pos_file .*; write the value out$/);
  expect(conf?.hidden[0]).toBe(warnings[0]);
  expect(warnings.at(-1)).toMatch(
    /f.conf may have more pos files: name all with --pos-file, or give Fluentd a/,
  );
});

test('where pos files are named, or Fluentd has a witness, nobody is asked to name them', async () => {
  const named = await findIn(KNOWN + RUBY, { posFiles: ['/a.pos', '/b.pos'] });
  const witnessed = await findIn(KNOWN + RUBY, { hasWitness: true });
  for (const { warnings } of [named, witnessed]) expect(warnings.join()).not.toMatch(/--pos-file/);
});

test('a source with an unknown pos file is taken for that of a named file, and not for that of a glob', async () => {
  const [named, glob] = [inDir('x.pos'), inDir('*.pos')];
  expect((await findIn(RUBY, { posFiles: [named] })).conf?.sources).toMatchObject([{ posFile: named }]);
  const { conf, warnings } = await findIn(RUBY, { posFiles: [glob] });
  expect(conf?.sources).toEqual([]);
  expect(warnings.at(-1)).toMatch(/no in_tail source of .* posidle cannot see its new files/);
});

test('a configuration whose pos files are unknown is refused, with a line for each reason', async () => {
  const lines = [
    '--fluent-conf: .*f\\.conf: its pos files are unknown; name them with --pos-file, or give Fluentd a witness .*',
    '.*f\\.conf:4 and 1 more place: pos_file is .*: posidle evaluates only .*; write the value out',
  ];
  const both = RUBY + RUBY.replace('zone', 'year');
  await expect(findIn(both)).rejects.toThrow(new RegExp(`^${lines.join('\n')}$`));
});

test('a configuration without in_tail has nothing to read, and is not refused', async () => {
  const { conf, ...found } = await findIn(AGGREGATOR);
  expect(found).toEqual({
    posFiles: [],
    warnings: [`${inDir('f.conf')} has no in_tail source`],
    confPath: inDir('f.conf'),
  });
  expect(conf?.sources).toEqual([]);
  await expect(findIn(`${AGGREGATOR}@include "#{Dir.pwd}/x"\n`)).rejects.toThrow(/its pos files are unknown/);
});

test('with a witness, no configuration is refused, and its source is warned of all the same', async () => {
  const none = { posFiles: [], conf: undefined, warnings: [], confPath: undefined };
  const hasWitness = true;
  for (const text of [AGGREGATOR, '<source>\n']) expect(await findIn(text, { hasWitness })).toEqual(none);
  for (const text of [RUBY, source('')])
    expect(await findIn(text, { hasWitness })).toMatchObject({
      ...{ posFiles: [], conf: undefined },
      warnings: expect.arrayContaining([expect.stringContaining('read_from_head')]),
    });
  const command = ['fluentd', '-c', '/not/there.conf'];
  expect(await findIn('', { fluentConf: undefined, command, hasWitness })).toEqual(none);
});

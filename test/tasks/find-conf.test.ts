import { type ChildProcess, spawn } from 'node:child_process';
import { chmodSync, existsSync, symlinkSync, writeFileSync } from 'node:fs';
import { afterEach, describe, expect, test } from 'vitest';
import { type ConfWanted, findConf, findPosFiles } from '../../src/tasks/find-conf.ts';
import { inspectSubject } from '../../src/tasks/inspect.ts';
import { FakeHost } from '../support/fake-host.ts';
import { needsRoot } from '../support/needs.ts';
import { tempDir } from '../support/temp-dir.ts';

const inDir = tempDir();
let child: ChildProcess | undefined;

const put = (name: string, text: string, mode = 0o644) => {
  writeFileSync(inDir(name), text, { mode });
  return inDir(name);
};
const tail = (name: string) =>
  `<source>\n@type tail\npath ${inDir()}/${name}.log\npos_file ${inDir()}/${name}.pos\nread_from_head true\n</source>\n`;

afterEach(() => {
  child?.kill('SIGKILL');
  child = undefined;
});

const find = (wanted: Partial<ConfWanted>, env: NodeJS.ProcessEnv = {}, host = new FakeHost()) =>
  findConf(host, { fluentConf: undefined, ...wanted }, env);

/** The names of the pos files that are found. */
const sourcesOf = async (...asked: Parameters<typeof find>) => {
  const found = await find(...asked);
  return found?.conf.sources.map(({ posFile }) => posFile?.slice(inDir().length + 1));
};

test('a variable that is empty names no configuration, as if it were not set', async () => {
  const empty = { FLUENT_CONF: '', FLUENTD_CONF: '' };
  expect(await find({}, empty)).toEqual(await find({}));
  const found = find({}, { FLUENT_CONF: '/not/there.conf' });
  await expect(found).rejects.toThrow(/^FLUENT_CONF: \/not\/there\.conf: no such file or directory/);
});

test('a loop of links in its path is told, below a root, too', async () => {
  symlinkSync('/loop', inDir('loop'));
  const why = /^--fluent-conf: .*: too many symbolic links/;
  await expect(find({ fluentConf: '/loop/f.conf', root: inDir() })).rejects.toThrow(why);
});

test('Ruby that posidle does not evaluate is never run, and what is unknown is named', async () => {
  const fluentConf = put('f.conf', tail('a').replace(`${inDir()}/a.log`, `"#{\`id > ${inDir()}/PWNED\`}"`));
  const found = await find({ fluentConf });
  expect(found?.conf.problems).toEqual([expect.stringContaining(': path is "#{`id')]);
  expect(existsSync(inDir('PWNED'))).toBe(false);
});

describe('the command that starts Fluentd', () => {
  const sources = (...words: string[]) =>
    sourcesOf({ command: ['tini', 'fluentd', ...words], isOfFluentd: true });

  test('names the configuration, and has no other where something is appended to it', async () => {
    const command = ['fluentd', '-c', put('f.conf', tail('a')), '-i', tail('b')];
    const found = await find({ command, isOfFluentd: true });
    expect(found?.conf.sources).toHaveLength(1);
    expect(found?.conf.hidden).toEqual([
      expect.stringMatching(/^--inline-config: posidle does not read it$/),
    ]);
  });

  test('says how many workers there are, before <system> does', async () => {
    const text = `<system>\nworkers 1\n</system>\n<worker 1>\n${tail('a')}</worker>\n`;
    expect(await sources('-c', put('f.conf', text))).toEqual([]);
    expect(await sources('-c', put('f.conf', text), '--workers', '2')).toEqual(['a.pos']);
  });

  test('is wrong where its configuration cannot be read', async () => {
    const why = /^fluentd's own -c: \/not\/there\.conf: no such file or directory/;
    await expect(sources('-c', '/not/there.conf')).rejects.toThrow(why);
  });
});

describe('a Fluentd that runs', () => {
  const running = (...words: string[]) => runningAs(undefined, ...words);
  const runningAs = (uid: number | undefined, ...words: string[]) => {
    child = spawn('sleep', ['60'], { cwd: inDir(), env: { NAME: 'from-env' }, ...(uid && { uid }) });
    const { pid = 0 } = child;
    const host = new FakeHost();
    const row = { ppid: 1, session: pid, startTime: '1', zombie: false, permitted: true, onSignal: () => {} };
    host.processes.set(pid, { ...row, pid, argv: ['/usr/bin/ruby', '/usr/bin/fluentd', ...words] });
    return host;
  };
  const sources = (host: FakeHost, wanted: Partial<ConfWanted>, env: NodeJS.ProcessEnv = {}) =>
    sourcesOf({ isOfFluentd: true, ...wanted }, env, host);

  test('names its configuration, relative to its own directory and with its own environment', async () => {
    put('f.conf', tail(`#{ENV['NAME']}`).replace(/pos_file (.*)/, 'pos_file "$1"'));
    expect(await sources(running('-c', 'f.conf'), {})).toEqual(['from-env.pos']);
  });

  test('names it before the environment and the usual places do, and after the user', async () => {
    const [mine, other] = [put('mine.conf', tail('mine')), put('other.conf', tail('other'))];
    put('f.conf', tail('a'));
    const host = running('-c', 'f.conf');
    expect(await sources(host, {}, { FLUENT_CONF: other })).toEqual(['a.pos']);
    expect(await sources(host, { fluentConf: mine })).toEqual(['mine.pos']);
  });

  test('counts for nothing where it is only looked at, or where its path leads nowhere here', async () => {
    const other = put('other.conf', tail('other'));
    const env = { FLUENT_CONF: other };
    put('f.conf', tail('a'));
    const host = running('-c', 'f.conf');
    expect(await sources(host, { isOfFluentd: false }, env)).toEqual(['other.pos']);
    expect(await sources(running('-c', '/not/there.conf'), {}, env)).toEqual(['other.pos']);
  });

  test("counts for nothing where it is another user's, who learns nothing of our environment", async (context) => {
    needsRoot(context);
    chmodSync(inDir(), 0o755);
    const other = put('other.conf', tail('other'));
    const theirs = put('f.conf', tail(`#{ENV['SECRET']}`).replace(/(path|pos_file) (.*)/g, '$1 "$2"'));
    const host = runningAs(65_534, '-c', theirs, '--workers', '7');
    const env = { FLUENT_CONF: other, SECRET: 'secret' };
    expect(await sources(host, {}, env)).toEqual(['other.pos']);
    expect(await sources(host, {}, { SECRET: 'secret' })).toBeUndefined();
  });
});

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
  const none = { posFiles: [], warnings: [] };
  const hasWitness = true;
  for (const text of [AGGREGATOR, '<source>\n']) expect(await findIn(text, { hasWitness })).toEqual(none);
  for (const text of [RUBY, source('')])
    expect(await findIn(text, { hasWitness })).toEqual({
      ...none,
      warnings: expect.arrayContaining([expect.stringContaining('read_from_head')]),
    });
  const command = ['fluentd', '-c', '/not/there.conf'];
  expect(await findIn('', { fluentConf: undefined, command, hasWitness })).toEqual(none);
});

test('an inspection by a witness needs no pos_file either', async () => {
  const wanted = { fluentConf: put('f.conf', source('')), posFiles: [], witness: inDir() };
  expect(await inspectSubject(new FakeHost(), wanted)).toMatchObject({ posFiles: [], witness: inDir() });
});

import { type ChildProcess, spawn } from 'node:child_process';
import { chmodSync, existsSync, symlinkSync, writeFileSync } from 'node:fs';
import { afterEach, describe, expect, test } from 'vitest';
import { type ConfWanted, findConf } from '../../src/tasks/find-conf.ts';
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
  await expect(found).rejects.toThrow(/^FLUENT_CONF: \/not\/there\.conf: there is no such file/);
});

test('a loop of links in its path is told, below a root, too', async () => {
  symlinkSync('/loop', inDir('loop'));
  const why = /^--fluent-conf: .*: its symbolic links form a loop/;
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
    const why = /^fluentd's own -c: \/not\/there\.conf: there is no such file/;
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

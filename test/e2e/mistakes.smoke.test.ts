import { expect, test } from 'vitest';
import { loading, posidle, shellIn, startPosidle } from '../support/posidle.ts';

/** A mistake on the command line, and the one line that is said of it. */
const MISTAKES: readonly (readonly [line: string, said: string])[] = [
  ['--quiet 30s', 'missing command. Use watch, run, drain, inspect, export, witness or inject'],
  ['watch --done-flie /x', 'there is no option --done-flie. Did you mean --done-file?'],
  ['watch --main-gone 6m', '--main-gone: give --done-process or --heartbeat-file too'],
  ['run', 'run: the command to start is missing. Use posidle run [options] -- fluentd -c fluent.conf'],
  ['witness /dev/null', 'witness: cannot write to /dev/null: not a directory'],
  ['witness /proc/none', 'witness: cannot write to /proc/none: no such file or directory'],
  ['inspect -p  --json', '--pos-file: the value is empty. Is a variable not set?'],
  ['inspect a.pos -n batch', '--namespace and --context need a Pod: kubectl posidle inspect POD'],
  ['witness', 'witness: DIR is missing. Use posidle witness /posidle'],
  ['inject', 'inject: the file is missing. Use posidle inject FILE, or - for stdin'],
  ['inject no.yaml', 'inject: no.yaml: no such file or directory'],
];

test.concurrent.each(MISTAKES)('posidle %s', async (line, said) => {
  expect(await posidle(...line.split(' '))).toEqual({ code: 2, stdout: '', stderr: `posidle: ${said}\n` });
});

test.concurrent.each(['inject test/e2e/none.yaml', 'inspect none.pos --json'])(
  'posidle %s warns of a variable that no option has',
  async (line) => {
    const run = startPosidle(line.split(' '), { env: { ...process.env, POSIDLE_IMGAE: 'x' } });
    await run.exited;
    const said = 'posidle: POSIDLE_IMGAE: no option has this name. Did you mean POSIDLE_IMAGE?\n';
    expect(run.stderr().slice(0, said.length)).toBe(said);
  },
);

test.concurrent('a pos file whose glob is longer than any path is named in short', async () => {
  const long = `/var/log/${'*'.padStart(4_991, 'x')}`;
  const said = `--pos-file: ${long.slice(0, 40)}…: it has 5000 characters, and a path has at most 4096`;
  expect(await posidle('watch', '-p', long)).toEqual({ code: 2, stdout: '', stderr: `posidle: ${said}\n` });
});

test.concurrent('posidle inspect WORD asks whether a word that is no file is a Pod', async () => {
  const { code, stdout, stderr } = await posidle('inspect', 'app-7d9f8', 'no.pos');
  expect(stderr).toBe(
    'posidle: there is no file app-7d9f8. For a Pod: kubectl posidle inspect app-7d9f8 (kubectl finds this program in the PATH as kubectl-posidle)\n',
  );
  expect({ code, stdout }).toEqual({ code: 1, stdout: expect.stringContaining('it is not there') });
});

test.concurrent('completion --help prints the help, and not the script', async () => {
  const { code, stdout } = await posidle('completion', '--help');
  expect(stdout).toMatch(/^Commands:$/m);
  expect(code).toBe(0);
});

test.concurrent('the help of a command without options does not say how to set them', async () => {
  const { code, stdout } = await posidle('witness', '--help');
  expect(stdout).not.toMatch(/environment|Durations|Sizes/);
  expect(stdout).toMatch(/^Exit codes: 0 it is written; /m);
  expect(code).toBe(0);
});

test('without arguments it prints the help, and fails', async () => {
  const { code, stdout, stderr } = await posidle();
  expect(stdout).toMatch(/^Commands:$/m);
  expect({ code, stderr }).toEqual({ code: 2, stderr: '' });
});

test('help is as wide as COLUMNS says, and 80 columns by default', async () => {
  const widest = async (env: NodeJS.ProcessEnv) => {
    const run = startPosidle(['watch', '--help'], { env: { ...process.env, ...env } });
    await run.exited;
    return Math.max(
      ...run
        .stdout()
        .split('\n')
        .map(({ length }) => length),
    );
  };
  expect(await widest({ COLUMNS: undefined })).toBe(80);
  expect(await widest({ COLUMNS: '60' })).toBe(60);
});

test('a bug says which posidle it is, and where to report it', () => {
  const broken = loading("process.on = () => { throw new TypeError('on is no function') }");
  const { status, stderr } = shellIn('.', `${broken} posidle export /a.pos --listen 127.0.0.1:0`);
  expect(stderr).toMatch(/^posidle: TypeError: on is no function\n/);
  expect(stderr).toMatch(
    /\nThis is a bug of posidle \d+\.\d+\.\d+ \(Node \d+\.\d+\.\d+\)\. Please report these lines: .*\n$/,
  );
  expect(status).toBe(1);
});

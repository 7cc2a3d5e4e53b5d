import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { mayRead } from '../../../src/node/files/permission.ts';
import { until } from '../../support/until.ts';

const NOBODY = 65_534;
const GROUP = 54_321;
const isRoot = process.getuid?.() === 0;
const NO_PROCESS = 2 ** 22 + 1;

let dir: string;
let file: string;

beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'permission-'));
  chmodSync(dir, 0o755);
  mkdirSync(join(dir, 'sub'));
  file = join(dir, 'sub', 'app.log');
  writeFileSync(file, 'a line\n');
});

afterAll(() => rmSync(dir, { recursive: true }));

async function reads(pid: number | undefined, path: string): Promise<boolean | undefined> {
  return (await mayRead(pid, [path])).get(path);
}

describe('a process that can be seen', () => {
  test('may read its own file by the owner’s bits', async () => {
    const others = set({ mode: 0o400 });
    expect(await reads(process.pid, file)).toBe(true);
    others();
  });

  test('may read nobody knows what where the file is not there and no capability opens it', async () => {
    const expected = isRoot ? true : undefined;
    expect(await reads(process.pid, join(dir, 'none'))).toBe(expected);
  });
});

describe('a process that cannot be seen', () => {
  test.each([NO_PROCESS, undefined])(
    'is not known to read what this process may read (pid %s)',
    async (pid) => {
      expect(await reads(pid, file)).toBeUndefined();
    },
  );

  test('counts as one that may not read what this process may not read; root may read all', async () => {
    const back = set({ mode: 0 });
    expect(await reads(undefined, file)).toBe(isRoot ? undefined : false);
    back();
  });
});

describe.runIf(isRoot)('as another user', () => {
  const processes: ChildProcess[] = [];
  let nobody: number;
  let inGroup: number;
  let capable: number;

  beforeAll(async () => {
    const user = ['--reuid', `${NOBODY}`, '--regid', `${NOBODY}`];
    nobody = await sleeps([...user, '--clear-groups']);
    inGroup = await sleeps([...user, '--groups', `${GROUP}`]);
    const capability = '+dac_read_search';
    const keep = ['--inh-caps', capability, '--ambient-caps', capability];
    capable = await sleeps([...user, '--clear-groups', ...keep]);
  });

  afterAll(async () => {
    const ends = processes.map((child) => once(child, 'exit'));
    for (const child of processes) child.kill('SIGKILL');
    await Promise.all(ends);
  });

  test.each<{ title: string; mode: number; uid?: number; gid?: number; dirMode?: number; may: boolean }>([
    { title: 'a file that all may read is open', mode: 0o644, may: true },
    { title: 'a file of root alone is closed', mode: 0o600, may: false },
    { title: 'its own file is open', mode: 0o400, uid: NOBODY, may: true },
    {
      title: 'its own file without the owner’s bit is closed, whoever else may read it',
      mode: 0o044,
      uid: NOBODY,
      may: false,
    },
    { title: 'a file of its group is open', mode: 0o640, gid: NOBODY, may: true },
    {
      title: 'a file of its group without the group’s bit is closed, though others may read it',
      mode: 0o604,
      gid: NOBODY,
      may: false,
    },
    { title: 'a file of a group that it is not in is closed', mode: 0o640, gid: GROUP, may: false },
    {
      title: 'an open file below a directory that it may not search is closed',
      mode: 0o644,
      dirMode: 0o744,
      may: false,
    },
    {
      title: 'an open file below a directory that it may search and not list is open',
      mode: 0o644,
      dirMode: 0o711,
      may: true,
    },
  ])('$title', async ({ may, ...modes }) => {
    const back = set(modes);
    expect(await reads(nobody, file)).toBe(may);
    back();
  });

  test('a file of a further group is open', async () => {
    const back = set({ mode: 0o640, gid: GROUP });
    expect([await reads(inGroup, file), await reads(nobody, file)]).toEqual([true, false]);
    back();
  });

  test('a file that is not there is not known', async () => {
    expect(await reads(nobody, join(dir, 'none'))).toBeUndefined();
  });

  test('no mode keeps a process with a capability out, root among them', async () => {
    const back = set({ mode: 0, dirMode: 0o700 });
    expect([await reads(capable, file), await reads(process.pid, file)]).toEqual([true, true]);
    back();
  });

  /** The pid of a process that setpriv has made such a one. */
  async function sleeps(options: readonly string[]): Promise<number> {
    const child = spawn('setpriv', [...options, 'sleep', '300'], { stdio: 'ignore' });
    processes.push(child);
    const { pid = 0 } = child;
    await until('sleep runs', () => readFileSync(`/proc/${pid}/comm`, 'utf8') === 'sleep\n');
    return pid;
  }
});

/** Gives the file, and the directory that it lies in, these modes; returns what takes them back. */
function set({
  mode,
  uid,
  gid,
  dirMode = 0o755,
}: {
  mode: number;
  uid?: number;
  gid?: number;
  dirMode?: number;
}) {
  const change = (one: number, group: number, dirs: number) => {
    if (isRoot) chownSync(file, one, group);
    chmodSync(file, mode);
    chmodSync(join(dir, 'sub'), dirs);
  };
  change(uid ?? 0, gid ?? 0, dirMode);
  return () => {
    chmodSync(file, 0o644);
    change(0, 0, 0o755);
    chmodSync(file, 0o644);
  };
}

import * as fs from 'node:fs';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';

vi.mock('node:fs', { spy: true });
vi.mock('ps-list', () => ({
  default: async () => [
    { pid: 42, ppid: 1, name: 'fluentd', cmd: 'fluentd -c /f.conf', startTime: new Date(0) },
    { pid: 43, ppid: 42, name: 'sh', cmd: '[sh] <defunct>', startTime: new Date(0) },
  ],
}));

const refusing = (code: string) => () => {
  throw Object.assign(new Error(`${code}: refused`), { code });
};

/** The modules, loaded anew. */
const load = () => import('../../../src/node/processes/processes.ts');

beforeEach(() => vi.resetModules());
afterEach(() => {
  vi.resetAllMocks();
  vi.restoreAllMocks();
});

describe('where /proc cannot be read', () => {
  beforeEach(() => {
    vi.mocked(fs.readdirSync).mockImplementation(refusing('EACCES'));
  });

  test('the processes come from ps', async () => {
    const { listProcesses } = await load();
    const rows = await listProcesses();
    expect(rows).toMatchObject([
      { pid: 42, ppid: 1, argv: ['fluentd', '-c', '/f.conf'], zombie: false },
      { pid: 43, zombie: true },
    ]);
    expect(await listProcesses(42)).toEqual(rows);
  });

  test('a process that ps shows otherwise gets no signal', async () => {
    const kill = vi.spyOn(process, 'kill').mockReturnValue(true);
    const { signalProcess } = await load();
    expect(await signalProcess({ pid: 42, startTime: 'another' }, 'SIGINT')).toBe('gone');
    expect(kill).not.toHaveBeenCalled();
    expect(await signalProcess({ pid: 42, startTime: new Date(0).toISOString() }, 'SIGINT')).toBe('sent');
  });
});

describe.each([
  ['EMFILE', 'posidle has too many files open'],
  ['ENFILE', 'the system has too many files open'],
])('while %s lets no file be opened', (code, words) => {
  const why = `the processes cannot be looked at: ${words}`;

  test('nobody knows the processes', async () => {
    const { listProcesses } = await load();
    vi.mocked(fs.readdirSync).mockImplementation(refusing(code));
    await expect(listProcesses()).rejects.toThrow(why);
  });

  test('no process counts as gone', async () => {
    const { listProcesses, signalProcess } = await load();
    vi.mocked(fs.readFileSync).mockImplementation(refusing(code));
    await expect(listProcesses()).rejects.toThrow(why);
    await expect(signalProcess({ pid: process.pid, startTime: '1' }, 'SIGINT')).rejects.toThrow(why);
  });
});

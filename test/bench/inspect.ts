import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { type Bench, BUNDLE, type Row, withSite } from './rows.ts';

const FILES = 100_000;
const TELL = `process.on('exit', () => {
  const { userCPUTime, systemCPUTime, maxRSS } = process.resourceUsage();
  const figures = { cpu: (userCPUTime + systemCPUTime) / 1_000, memory: maxRSS / 1_024 };
  require('node:fs').writeFileSync(__filename + '.json', JSON.stringify(figures));
})`;

interface Inspected {
  /** Milliseconds, of all threads. */
  readonly cpu: number;
  /** The most MiB. */
  readonly memory: number;
}

/** One `inspect` of very many files. */
export const INSPECT: Bench = {
  name: 'inspect',
  run: async (runs: number): Promise<readonly Row[]> => {
    const all = await withSite(FILES, async ({ posFile }) =>
      Array.from({ length: runs }, () => inspected(posFile)),
    );
    const cpu = { posidle: all.map((one) => one.cpu) };
    const memory = { posidle: all.map((one) => one.memory) };
    return [
      { name: 'CPU of `inspect`, 100,000 files', unit: 'ms', figures: cpu, goal: { atMost: 1_000 } },
      { name: 'RSS of `inspect`, 100,000 files', unit: 'MiB', figures: memory, goal: { atMost: 150 } },
    ];
  },
};

function inspected(posFile: string): Inspected {
  const tell = `${posFile}.tell.cjs`;
  writeFileSync(tell, TELL);
  spawnSync(process.execPath, ['--require', tell, BUNDLE, 'inspect', posFile], { stdio: 'ignore' });
  return JSON.parse(readFileSync(`${tell}.json`, 'utf8')) as Inspected;
}

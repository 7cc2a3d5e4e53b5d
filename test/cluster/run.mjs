// npm run test:cluster -- [--all] [what vitest takes]: --all plays the *.long.test.ts, too. They come last: their Pods need the label's
// policy, and a test of the others changes it.
import { spawnSync } from 'node:child_process';

const given = process.argv.slice(2);
// More Pods at a time make each other wait.
const words = ['run', '--project', 'cluster', '--maxWorkers=2', '--passWithNoTests'];
for (const CLUSTER_LONG of given.includes('--all') ? ['', 'true'] : ['']) {
  const { status } = spawnSync(
    process.execPath,
    ['node_modules/vitest/vitest.mjs', ...words, ...given.filter((word) => word !== '--all')],
    { env: { ...process.env, CLUSTER_LONG }, stdio: 'inherit' },
  );
  if (status !== 0) process.exitCode = 1;
}

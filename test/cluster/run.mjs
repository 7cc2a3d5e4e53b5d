// npm run test:cluster -- [--all] [what vitest takes]: --all plays the *.long.test.ts, too.
import { spawnSync } from 'node:child_process';

const given = process.argv.slice(2);
const env = { ...process.env, ...(given.includes('--all') && { CLUSTER_ALL: 'true' }) };
// More Pods at a time make each other wait.
const words = ['run', '--project', 'cluster', '--maxWorkers=2', ...given.filter((word) => word !== '--all')];
const { status } = spawnSync(process.execPath, ['node_modules/vitest/vitest.mjs', ...words], {
  env,
  stdio: 'inherit',
});
process.exit(status ?? 1);

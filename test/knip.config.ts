import type { KnipConfig } from 'knip';

export default {
  entry: [
    'src/cli.ts!',
    // esbuild puts these in the place of packages.
    'docker/bundle/*.{mjs,cjs}',
    'fixtures/**/*.{mjs,ts}',
    'test/bench/main.ts',
    'test/bench/witness.ts',
    'test/simulation/main.ts',
    'test/situations/{attack,command}.ts',
    'test/mutation/{main,simulate,suite}.ts',
    'test/cluster/bench/main.ts',
  ],
  project: ['src/**/*.ts!', 'docker/**/*.{mjs,cjs}', 'fixtures/**/*.{mjs,ts}', 'test/**/*.{ts,mjs}'],
  exclude: ['binaries'],
  // For a test an export is no more than a handle; what only tests use at all is dead.
  ignoreExportsUsedInFile: process.argv.includes('--production'),
} satisfies KnipConfig;

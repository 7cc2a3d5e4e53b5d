// node test/support/run-ts.mjs FILE.ts [ARGUMENT…]: Node 20 does not run TypeScript itself.
import { rmSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';

const [entry, ...rest] = process.argv.slice(2);
if (entry === undefined) throw new Error('usage: run-ts.mjs FILE.ts [ARGUMENT…]');
const outfile = resolve('node_modules/.cache/posidle', `${basename(entry, '.ts')}-${process.pid}.mjs`);
await build({
  entryPoints: [entry],
  outfile,
  bundle: true,
  platform: 'node',
  format: 'esm',
  target: 'node20',
  packages: 'external',
  sourcemap: 'inline',
});
process.setSourceMapsEnabled(true);
process.argv = [process.argv[0], entry, ...rest];
try {
  await import(pathToFileURL(outfile).href);
} finally {
  rmSync(outfile, { force: true });
}

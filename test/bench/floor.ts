import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';

/** Only the system calls of a look at rest. */
const CALLS = `const fs = require('node:fs');
  const { open, stat } = require('node:fs/promises');
  const [logs, posFile, pid] = process.argv.slice(-3);
  const paths = fs.readdirSync(logs).map((name) => logs + '/' + name);
  const childrenOf = (task) => fs.readFileSync('/proc/' + pid + '/task/' + task + '/children', 'latin1').split(' ');
  const look = async () => {
    const children = fs.readdirSync('/proc/' + pid + '/task').flatMap(childrenOf).filter(Boolean);
    for (const one of [pid, ...children])
      for (const name of ['stat', 'cmdline']) fs.readFileSync('/proc/' + one + '/' + name);
    const file = await open(posFile);
    await file.stat();
    await file.close();
    for (const path of paths) fs.statSync(path);
    await stat(logs);
  };
  setInterval(look, 1_000);
  setInterval(() => fs.statSync(logs + '/done', { throwIfNoEntry: false }), 1_000);`;

/** The packages that posidle is built on, each asked once for what posidle asks of it. */
const PACKAGES = `import { watch } from 'chokidar';
  import pidusage from 'pidusage';
  import { pino } from 'pino';
  import psList from 'ps-list';
  import yargs from 'yargs';
  void yargs(['--quiet', 'off']).option('quiet', { type: 'string' }).strict().parse();
  pino({}, { write: () => {} }).info('');
  watch(process.argv.at(-2), { persistent: false });
  void psList();
  void pidusage(process.pid);
  ${CALLS}`;

/** Writes them into one file; gives its path. */
export async function callsAndPackages(dir: string): Promise<string> {
  const { outputFiles } = await build({
    stdin: { contents: PACKAGES, resolveDir: process.cwd() },
    bundle: true,
    minify: true,
    platform: 'node',
    format: 'cjs',
    // yargs asks where it is only to find translations.
    define: { 'import.meta.url': '__url', 'import.meta.dirname': '__dirname' },
    banner: { js: 'const __url = require("node:url").pathToFileURL(__filename).href;' },
    write: false,
  });
  const path = join(dir, 'calls-and-packages.cjs');
  writeFileSync(path, outputFiles[0]?.contents ?? '');
  return path;
}

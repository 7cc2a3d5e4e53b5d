// Makes posidle one file that needs nothing but Node. node docker/bundle.mjs [DIR] writes into DIR, or dist:
//   cli.js, cli.cjs       the command of the npm package, readable: a stack names its functions
//   posidle.cjs           the same, small enough for a ConfigMap
//   posidle.LICENSES.txt  the licences of what is in both
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { brotliCompress, constants } from 'node:zlib';
import { build } from 'esbuild';

const root = fileURLToPath(new URL('..', import.meta.url));
const target = process.argv[2] ?? join(root, 'dist');
const { version, license, bugs, engines } = packageOf(root);
// As one ES module the program takes 8 MB more on Node 24.
const LOADER = `#!/usr/bin/env node
${refuseOldNode()}
import { createRequire } from 'node:module';
createRequire(import.meta.url)('./cli.cjs');
`;
/** Worker threads, log files and redaction of pino, Windows in pidusage: loaded, and never called. */
const UNUSED =
  /node_modules\/(thread-stream|sonic-boom|@pinojs\/redact|on-exit-leak-free|pino\/lib\/(transport|multistream|redaction)|pidusage\/lib\/(wmic|gwmi))\b/;
const withoutUnused = {
  name: 'without-unused',
  setup: ({ onLoad }) =>
    onLoad({ filter: UNUSED }, () => ({
      contents: "module.exports = class { constructor() { throw new Error('not in the bundle'); } };",
    })),
};

/** What a start may never need. Loaded when it is first called, it spares each start 10 ms and 2 MB. */
const LATER = {
  'node:child_process': ['spawn', 'spawnSync'],
  'node:crypto': ['timingSafeEqual'],
  'node:http': ['createServer'],
};
const loadedLater = {
  name: 'loaded-later',
  setup: ({ onResolve, onLoad }) => {
    onResolve({ filter: /^node:(child_process|crypto|http)$/ }, ({ path, importer }) =>
      /\/src\//.test(importer) ? { path, namespace: 'later' } : undefined,
    );
    onLoad({ filter: /./, namespace: 'later' }, ({ path }) => ({
      contents: LATER[path]
        .map(
          (name) =>
            `export const ${name} = (...args) => process.getBuiltinModule('${path}').${name}(...args);`,
        )
        .join('\n'),
    }));
  },
};
/** yargs lays out the whole help of each command that it runs, for whoever asks for it later. Here nobody does. */
const HELP = 'yargs.getInternalMethods().getUsageInstance().cacheHelpMessage();';
const withoutHelp = {
  name: 'without-help',
  setup: ({ onLoad }) =>
    onLoad({ filter: /node_modules\/yargs\/build\/lib\/command\.js$/ }, ({ path }) => {
      const text = readFileSync(path, 'utf8');
      if (!text.includes(HELP)) throw new Error(`${path} no longer holds ${HELP}`);
      return { contents: text.replace(HELP, '') };
    }),
};

/** The bundle is one file: the texts of the witness are in it. */
const withWitness = {
  name: 'with-witness',
  setup: ({ onLoad }) =>
    onLoad({ filter: /src\/node\/witness\/program\.ts$/ }, ({ path }) => {
      const text = (name) => JSON.stringify(readFileSync(join(root, 'src/core/witness', name), 'utf8'));
      const program = readFileSync(path, 'utf8').replace(/textOf\('(.*)'\)/g, (_, name) => text(name));
      return { contents: program.replace(/^(import|const SOURCE) .*$/gm, ''), loader: 'ts' };
    }),
};

const [readable, small] = await Promise.all([bundle({ packed: false }), bundle({ packed: true })]);
const executable = { mode: 0o755 };
mkdirSync(target, { recursive: true });
writeFileSync(join(target, 'cli.js'), LOADER, executable);
writeFileSync(join(target, 'cli.cjs'), readable.program);
writeFileSync(join(target, 'posidle.cjs'), await packed(small.program), executable);
writeFileSync(join(target, 'posidle.LICENSES.txt'), licensesOf(small.inputs));

/** Else an older Node prints the program as its error. */
function refuseOldNode() {
  const [, least] = /(\d+\.\d+)/.exec(engines.node);
  return [
    'const [major, minor] = process.versions.node.split(".").map(Number);',
    `if (major + minor / 1e3 < ${least.replace('.', ' + ')} / 1e3) {`,
    `  console.error("posidle: Node ${least} or later is needed; this is " + process.versions.node);`,
    '  process.exit(2);',
    '}',
  ].join('\n');
}

async function bundle({ packed }) {
  const { outputFiles, metafile } = await build({
    absWorkingDir: root,
    entryPoints: ['src/cli.ts'],
    bundle: true,
    minify: packed,
    write: false,
    metafile: true,
    platform: 'node',
    target: 'node20.19',
    format: 'cjs',
    charset: 'ascii',
    legalComments: 'none',
    logLevel: 'warning',
    define: {
      'import.meta.url': '__import_meta_url',
      // cliui and yargs ask for their own folder only to find translations.
      'import.meta.dirname': '__dirname',
      BUILD: JSON.stringify({ version, bugs: bugs?.url }),
    },
    alias: {
      // 20 ms of every start go into its Intl.Segmenter; the texts here are ASCII.
      'string-width': './docker/bundle/string-width.mjs',
      // Node's brings the streams along.
      assert: './docker/bundle/assert.cjs',
      worker_threads: './docker/bundle/worker-threads.cjs',
      y18n: './docker/bundle/y18n.cjs',
      'pino-std-serializers': './docker/bundle/pino-std-serializers.cjs',
      'safe-stable-stringify': './docker/bundle/safe-stable-stringify.cjs',
    },
    plugins: [withoutUnused, loadedLater, withoutHelp, withWitness],
    banner: { js: 'const __import_meta_url=require("node:url").pathToFileURL(__filename).href;' },
  });
  // esbuild does not escape regular expressions, and a text with one wide character takes V8 two bytes for each.
  const escaped = (wide) => `\\u${wide.charCodeAt(0).toString(16).padStart(4, '0')}`;
  const program = outputFiles[0].text.replace(/[\u0080-\uffff]/g, escaped);
  return { program: Buffer.from(program), inputs: Object.keys(metafile.inputs) };
}

// `kubectl apply` keeps a second copy of a ConfigMap in an annotation, and all annotations together have 256 KiB
// (k8s.io/apimachinery pkg/api/validation TotalAnnotationSizeLimitB). Minified alone, posidle has more than 400 KiB.
async function packed(program) {
  const params = {
    [constants.BROTLI_PARAM_QUALITY]: 11,
    [constants.BROTLI_PARAM_SIZE_HINT]: program.length,
  };
  const compressed = await promisify(brotliCompress)(program, { params });
  const text = [
    '#!/usr/bin/env node',
    `// posidle ${version}, ${license} license; the licenses of what it bundles: posidle.LICENSES.txt`,
    '// The program is in the comment below, compressed by brotli: a ConfigMap takes it, and `kubectl apply` too.',
    refuseOldNode(),
    "const file = require('node:fs').readFileSync(__filename, 'latin1');",
    "const bytes = file.slice(file.indexOf('\\n/*') + 3, -3).replace(/\\*\\0(\\0*)\\//g, '*$1/');",
    "const text = require('node:zlib').brotliDecompressSync(Buffer.from(bytes, 'latin1')).toString();",
    'module._compile(text, __filename);',
    // No end of a comment stands in it: a NUL more parts the two characters.
    `/*${compressed.toString('latin1').replace(/\*(\0*)\//g, '*\0$1/')}*/`,
    '',
  ].join('\n');
  return Buffer.from(text, 'latin1');
}

function licensesOf(inputs) {
  const folders = inputs.flatMap((path) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0] ?? []);
  const bundled = [...new Set(folders)].sort().map((folder) => join(root, folder));
  return [root, ...bundled].map(licenseOf).join(`\n${'-'.repeat(80)}\n\n`);
}

function licenseOf(folder) {
  const { name, version, license } = packageOf(folder);
  const file = readdirSync(folder).find((entry) => /^(licen[cs]e|copying)(\.|-|$)/i.test(entry));
  if (file === undefined) throw new Error(`${name}: no license file in ${folder}`);
  return `${name} ${version} (${license})\n\n${readFileSync(join(folder, file), 'utf8').trim()}\n`;
}

function packageOf(folder) {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
}

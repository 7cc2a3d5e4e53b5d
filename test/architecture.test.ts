import { readdirSync, readFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { dirname, join, normalize } from 'node:path';
import { describe, expect, test } from 'vitest';

const LAYERS: Readonly<Record<string, RegExp>> = {
  core: /^core\//,
  host: /^core\//,
  log: /^$/,
  api: /^(core|daemon|node|commands)\//,
  index: /^(api|(core|commands)\/)/,
  daemon: /^(core\/|daemon\/|host|log)/,
  node: /^(core\/|node\/|host|log)|^node:/,
  commands: /^(core\/|daemon\/|node\/|commands\/|host|log)|^node:/,
  cli: /^(core\/|commands\/)|^node:|^yargs$/,
};
/** Each npm package is imported in exactly one file; yargs's types also where the options stand. */
const PACKAGES: Readonly<Record<string, readonly string[]>> = {
  chokidar: ['node/watcher.ts'],
  'js-yaml': ['node/conf-files.ts'],
  pidusage: ['node/usage.ts'],
  pino: ['node/logger.ts'],
  'ps-list': ['node/processes.ts'],
  yargs: ['cli.ts', 'commands/inspect-options.ts', 'commands/option-parts.ts', 'commands/options.ts'],
};
const IMPURE = /\b(Date\.now|new Date\(\)|Math\.random|process\.(?!ts')|Buffer\b|setTimeout|performance\.)/;

const files = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter((name) =>
  name.endsWith('.ts'),
);

describe.each(files)('src/%s', (file) => {
  const text = readFileSync(join('src', file), 'utf8');
  const layer = file.includes('/') ? (file.split('/')[0] ?? '') : file.replace(/\.ts$/, '');

  test('imports only what its layer may', () => {
    for (const target of importsOf(text).map((name) => resolve(file, name))) {
      const owners = PACKAGES[target];
      if (owners !== undefined) expect(owners).toContain(file);
      else expect(target).toMatch(LAYERS[layer] ?? /^$/);
    }
  });

  test('asks no clock, no chance and no process where it must be pure', () => {
    if (layer === 'core' || layer === 'daemon') expect(withoutComments(text)).not.toMatch(IMPURE);
  });

  test('ends the process nowhere but in cli.ts, and reads no argv elsewhere', () => {
    if (file !== 'cli.ts') expect(text).not.toMatch(/process\.(exit\b|argv)/);
  });
});

function importsOf(text: string): readonly string[] {
  return [...text.matchAll(/(?:from|import)\s+'([^']+)'/g)].map(([, name = '']) => name);
}

function resolve(file: string, name: string): string {
  if (builtinModules.includes(name)) return `node:${name}`;
  return name.startsWith('.') ? normalize(join(dirname(file), name)) : name;
}

function withoutComments(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '');
}

import { readdirSync, readFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { dirname, join, normalize } from 'node:path';
import { describe, expect, test } from 'vitest';

/** Every folder and file of src/, the lowest first: nothing imports what stands above it. */
const ORDER: readonly (readonly string[])[] = [
  ['core/text'],
  ['core/progress'],
  ['core/witness'],
  ['core/pos-file'],
  ['core/in-tail'],
  ['core/fluent-conf'],
  ['core/fluentd'],
  ['core/look'],
  ['core/drain'],
  ['core/inject'],
  ['core/inspect'],
  ['core/metrics'],
  ['host.ts'],
  // Neither imports the other.
  ['daemon', 'node'],
  ['tasks'],
  ['commands'],
  ['cli.ts'],
];
/** The places that may import what is built into Node. */
const WITH_NODE: readonly string[] = ['node', 'tasks', 'commands', 'cli.ts'];
/** Each npm package is imported in one file; yargs's types also where the options stand. */
const PACKAGES: Readonly<Record<string, readonly string[]>> = {
  chokidar: ['node/files/watcher.ts'],
  'js-yaml': ['node/files/manifests.ts'],
  pidusage: ['node/processes/usage.ts'],
  pino: ['node/output/logger.ts'],
  'ps-list': ['node/processes/processes.ts'],
  yargs: [
    'cli.ts',
    'commands/options/commands.ts',
    'commands/options/inspect-options.ts',
    'commands/options/environment.ts',
    'commands/options/option-parts.ts',
    'commands/options/options.ts',
  ],
};
const IMPURE = /\b(Date\.now|new Date\(\)|Math\.random|process\.(?!ts')|Buffer\b|setTimeout|performance\.)/;

const files = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter((name) =>
  name.endsWith('.ts'),
);
const imports = new Map(files.map((file) => [file, importsOf(file)]));

describe.each(files)('src/%s', (file) => {
  const text = readFileSync(join('src', file), 'utf8');

  test('imports nothing from places above it', () => {
    const own = placeOf(file);
    for (const target of inSrc(file)) {
      const place = placeOf(target);
      const isBeside = place.name === own.name || place.rank < own.rank;
      expect(isBeside, `${file} imports ${target}`).toBe(true);
    }
  });

  test('decides by Progress alone if it is of the drain', () => {
    if (!file.startsWith('core/drain/')) return;
    for (const target of inSrc(file)) expect(target).toMatch(/^core\/(drain|progress|text)\//);
  });

  test('imports from outside only what its place may', () => {
    for (const target of imports.get(file) ?? []) {
      if (files.includes(target)) continue;
      const owners = PACKAGES[target];
      if (owners !== undefined) expect(owners).toContain(file);
      else expect(target).toMatch(WITH_NODE.includes(placeOf(file).name) ? /^node:/ : /^$/);
    }
  });

  test('uses no clock, no randomness and no process if it must be pure', () => {
    if (/^(core|daemon)\//.test(file)) expect(withoutComments(text)).not.toMatch(IMPURE);
  });

  test('does not end the process or read argv, except in cli.ts', () => {
    if (file !== 'cli.ts') expect(text).not.toMatch(/process\.(exit\b|argv)/);
  });
});

function placeOf(file: string): { readonly name: string; readonly rank: number } {
  for (const [rank, names] of ORDER.entries()) {
    const name = names.find((place) => file === place || file.startsWith(`${place}/`));
    if (name !== undefined) return { name, rank };
  }
  throw new Error(`src/${file} has no place in ORDER`);
}

function inSrc(file: string): readonly string[] {
  return (imports.get(file) ?? []).filter((target) => files.includes(target));
}

function importsOf(file: string): readonly string[] {
  const text = readFileSync(join('src', file), 'utf8');
  const names = [...text.matchAll(/(?:from\s+|import[\s(]+)'([^']+)'/g)].map(([, name = '']) => name);
  return names.map((name) => resolve(file, name));
}

function resolve(file: string, name: string): string {
  if (builtinModules.includes(name)) return `node:${name}`;
  return name.startsWith('.') ? normalize(join(dirname(file), name)) : name;
}

function withoutComments(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '');
}

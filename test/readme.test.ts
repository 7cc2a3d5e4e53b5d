import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { inspectOptions } from '../src/commands/options/inspect-options.ts';
import { watchOptions } from '../src/commands/options/options.ts';
import { bundle } from './pods/bundle.ts';
import { blocksIn } from './pods/readme.ts';

const PAGES = ['README.md', 'docker/README.md'];
const ALL_PAGES = [
  ...PAGES,
  ...['src', 'test'].flatMap((dir) =>
    readdirSync(dir, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.md'))
      .map((name) => join(dir, name)),
  ),
];
const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: Record<string, string> };
const readme = readFileSync('README.md', 'utf8');
let posidle: string;

beforeAll(() => {
  posidle = bundle();
});
afterAll(() => rmSync(dirname(posidle), { recursive: true }));

test('README fits into five minutes', () => {
  expect(readme.trimEnd().split('\n').length).toBeLessThanOrEqual(250);
  expect(readme).toContain('npm ci && npm run demo\n');
  expect(readme).toContain('npm ci && npm test\n');
});

describe('each command of the pages', () => {
  for (const page of PAGES) {
    const commands = blocksIn(page, 'sh').flatMap((block) => block.split(/\n| && /));
    test.each(commands.map((line) => line.replace(/ +#.*$/, '')))(`${page}: %s`, (command) => {
      const [tool = '', ...words] = command.split(/ +/);
      if (tool === 'npm') expectScript(words);
      else if (tool === 'kubectl') expectKubectl(words);
      else expect(['docker', 'cd', 'kustomize']).toContain(tool);
      for (const file of words.filter((word) => /^docker\//.test(word))) expect(existsSync(file)).toBe(true);
    });
  }
});

/** What a machine without a cluster can know: the files are there, and posidle takes the words. */
function expectKubectl(words: readonly string[]): void {
  const [, file] = /--from-file=(\S+)/.exec(words.join(' ')) ?? [];
  if (file !== undefined) expect(file).toBe('dist/posidle.cjs');
  const inner = words.indexOf('--');
  if (inner < 0) return;
  const [node, path, ...rest] = words.slice(inner + 1);
  expect([node, path]).toEqual(['node', '/opt/posidle/posidle.cjs']);
  const args = rest.filter((word) => word !== '--follow');
  const dir = mkdtempSync(join(tmpdir(), 'posidle-readme-'));
  const { status, stderr } = spawnSync(process.execPath, [posidle, ...args, join(dir, 'no.pos')], {
    encoding: 'utf8',
  });
  rmSync(dir, { recursive: true });
  // 1: there is nothing to inspect here; 2 would be bad usage.
  expect(`${status} ${stderr}`).toMatch(/^1 /);
}

function expectScript([verb, name]: readonly string[]): void {
  if (verb === 'run') expect(scripts).toHaveProperty([name ?? '']);
  else expect(['ci', 'test']).toContain(verb);
}

test.each(ALL_PAGES)('%s links only to what is there', (page) => {
  const links = [...readFileSync(page, 'utf8').matchAll(/\]\(([^)#:]+)(?:#[^)]*)?\)/g)];
  for (const [, target = ''] of links) expect(existsSync(join(dirname(page), target)), target).toBe(true);
});

test.each([
  ['src/commands/options/README.md', watchOptions],
  ['src/commands/inspect-view/README.md', inspectOptions],
])('%s names each option', (page, options) => {
  const text = readFileSync(page, 'utf8');
  const missing = Object.keys(options).filter((name) => !new RegExp(`--(no-)?${name}\\b`).test(text));
  expect(missing).toEqual([]);
});

test("README's table counts what the loss matrix shows", () => {
  const [, matrix = ''] = /<!-- loss-matrix -->\n([\s\S]*?)<!-- \/loss-matrix -->/.exec(
    readFileSync('test/loss/README.md', 'utf8'),
  ) ?? [''];
  const rows = matrix
    .trim()
    .split('\n')
    .slice(2)
    .map((row) => row.split('|').map((cell) => cell.trim()));
  const all = new Set(rows.map(([, scenario]) => scenario)).size;
  const lost = (column: number) =>
    `${new Set(rows.filter((row) => row[column]?.startsWith('**')).map(([, scenario]) => scenario)).size} of ${all}`;
  const claimed = [...readme.matchAll(/^\| (.*?) \|.*\| (\d+ of \d+) \|$/gm)].map(([, who, count]) => [
    who,
    count,
  ]);
  expect(claimed).toEqual([
    ['native sidecar alone', lost(8)],
    ['a script that reads the pos file every minute', lost(6)],
    ['guillotine (SIGKILL when main makes a file)', lost(7)],
    ['**posidle**', lost(5)],
  ]);
});

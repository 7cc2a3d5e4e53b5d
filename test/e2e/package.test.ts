import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { BUNDLE } from '../pods/bundle.ts';
import { tempDir } from '../support/temp-dir.ts';

const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
const INSTALL_LIMIT = 120_000;

describe('the npm package, installed into an empty folder', () => {
  let dir: string;
  let packed: string[];
  let tarball: string;

  beforeAll(() => {
    dir = mkdtempSync(join(tmpdir(), 'posidle-package-'));
    const [{ filename, files }] = JSON.parse(
      execFileSync('npm', ['pack', '--ignore-scripts', '--json', '--pack-destination', dir], {
        encoding: 'utf8',
      }),
    ) as [{ filename: string; files: { path: string }[] }];
    tarball = filename;
    packed = files.map(({ path }) => path);
    writeFileSync(join(dir, 'package.json'), '{"private":true}');
    inside(
      'npm',
      'install',
      '--no-audit',
      '--no-fund',
      '--omit=dev',
      '--prefer-offline',
      join(dir, filename),
    );
  }, INSTALL_LIMIT);
  afterAll(() => rmSync(dir, { recursive: true }));

  test('has a command that runs, also as a plugin of kubectl', () => {
    for (const name of ['posidle', 'kubectl-posidle'])
      expect(inside(`node_modules/.bin/${name}`, '--version').trim()).toBe(version);
  });

  test('would be published', () => {
    const words = ['publish', '--dry-run', '--ignore-scripts', '--json', join(dir, tarball)];
    const told = JSON.parse(inside('npm', ...words)) as Record<string, unknown>;
    expect(JSON.stringify(told)).toContain(`posidle@${version}`);
  });

  test.each([
    ['an outcome', 'outcome', 'The outcome of posidle'],
    ['an inspection', 'inspection', 'What posidle inspect --json prints'],
  ])('tells the shape of %s', (_, name, title) => {
    const read = `import { createRequire } from 'node:module'; console.log(createRequire(import.meta.url)('posidle/${name}.schema.json').title)`;
    expect(inside(process.execPath, '--input-type=module', '-e', read).trim()).toBe(title);
  });

  test('holds nothing that its user does not need', () => {
    const expected =
      /^(dist\/|docker\/(compose|kubernetes|exporter|image)\/|docker\/[^/]+$|[A-Z]+(\.md)?$|package\.json$|fluent\.conf\.example$)/;
    expect(packed.filter((path) => !expected.test(path))).toEqual([]);
    expect(packed).toEqual(expect.arrayContaining(['LICENSE', 'README.md', 'dist/cli.js']));
  });

  function inside(command: string, ...args: readonly string[]): string {
    return execFileSync(command, args, { cwd: dir, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
  }
});

const at = tempDir();

test('the bundle is the same bytes twice', () => {
  execFileSync(process.execPath, ['docker/bundle.mjs', at()]);
  expect(readFileSync(at('posidle.cjs')).equals(readFileSync(BUNDLE))).toBe(true);
});

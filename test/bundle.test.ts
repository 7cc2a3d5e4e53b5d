import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, copyFileSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { BUNDLE } from './pods/bundle.ts';
import { needsRoot } from './support/needs.ts';
import { tempDir } from './support/temp-dir.ts';

const NOBODY = 65534;
const version = (JSON.parse(readFileSync('package.json', 'utf8')) as { version: string }).version;

describe('the bundle', () => {
  const elsewhere = tempDir();

  const loaded = (...args: readonly string[]) => {
    const tell = `process.on('exit', () => console.error(process.moduleLoadList.join('\\n')))`;
    const told = spawnSync(process.execPath, ['--import', `data:text/javascript,${tell}`, ...args]);
    const names = told.stderr.toString().split('\n');
    return names.filter((name) => name.startsWith('NativeModule ') && !name.includes(' internal/'));
  };
  const heavy = ['assert', 'child_process', 'crypto', 'dns', 'http', 'tls', 'worker_threads'].map(
    (name) => `NativeModule ${name}`,
  );

  test.each([
    ['--version', ['--version'], 10],
    ['a look', ['inspect', '/no.pos'], 16],
  ])('loads for %s hardly a part of Node that Node itself does not', (_, words, most) => {
    const bare = new Set(loaded('-e', '0'));
    const more = loaded(BUNDLE, ...words).filter((name) => !bare.has(name));
    expect(bare.size).toBeGreaterThan(0);
    expect(more.filter((name) => heavy.includes(name))).toEqual([]);
    expect(more.length, more.join()).toBeLessThanOrEqual(most);
  });

  test('says in ASCII what it is, before its packed bytes', () => {
    const bytes = readFileSync(BUNDLE);
    const head = bytes.subarray(0, bytes.indexOf('\n/*'));
    expect(head.toString()).toMatch(/^#!\/usr\/bin\/env node\n\/\/ posidle .* compressed by brotli/s);
    expect(head.every((byte) => byte < 0x80)).toBe(true);
  });

  test('unpacks to ASCII, of which V8 keeps one byte for each character', () => {
    const program = readFileSync(join(dirname(BUNDLE), 'cli.cjs'), 'latin1');
    expect(/[\u0080-\u00ff].{0,20}/.exec(program)?.[0]).toBeUndefined();
  });

  test.each([
    ['with nothing beside it and an empty environment', ['posidle.cjs']],
    ['without an extension', ['posidle']],
    ["through a ConfigMap's symlinks", ['..dated/mounted.cjs', '..data', 'mounted.cjs']],
  ])('knows its version %s', (_, [copy = '', ...links]) => {
    mkdirSync(elsewhere(dirname(copy)), { recursive: true });
    copyFileSync(BUNDLE, elsewhere(copy));
    const targets = ['..dated', '..data/mounted.cjs'];
    for (const [at, link] of links.entries()) symlinkSync(targets[at] ?? '', elsewhere(link));
    const args = [elsewhere(links.at(-1) ?? copy), '--version'];
    const told = execFileSync(process.execPath, args, { cwd: elsewhere(), env: {}, encoding: 'utf8' });
    expect(told.trim()).toBe(version);
  });

  test('runs as a user who owns nothing and may write nowhere', (context) => {
    needsRoot(context);
    chmodSync(elsewhere(), 0o755);
    const copy = elsewhere('read-only.cjs');
    copyFileSync(BUNDLE, copy);
    chmodSync(copy, 0o444);
    // Where this Node comes from npx, it lies below a home that others may not enter.
    const node = elsewhere('node');
    copyFileSync(process.execPath, node);
    const { stderr, status } = spawnSync(node, [copy, 'inspect', '/no.pos'], {
      uid: NOBODY,
      gid: NOBODY,
      cwd: '/',
      env: {},
      encoding: 'utf8',
    });
    expect(stderr).toBe('');
    expect(status).toBe(1);
  });

  test.each([
    ['dr', 'drain'],
    ['drain --ma', '--main-ended'],
    ['watch --', '--pos-file'],
  ])('completes %j in bash', (typed, expected) => {
    const script = `posidle() { "$NODE" "$BUNDLE" "$@"; }; . <(posidle completion)
      COMP_WORDS=(posidle $TYPED); COMP_CWORD=$((\${#COMP_WORDS[@]} - 1)); _posidle_yargs_completions; echo "\${COMPREPLY[@]}"`;
    const env = { NODE: process.execPath, BUNDLE, TYPED: typed, SHELL: '/bin/bash', PATH: process.env.PATH };
    const told = execFileSync('bash', ['--norc', '-c', script], { env, encoding: 'utf8' });
    const words = told.trim().split(' ');
    expect(words).toContain(expected);
    expect(words.filter((word) => /^--.$/.test(word))).toEqual([]);
  });

  test.each(['posidle.cjs', 'cli.js'])('%s says in one line that Node is too old', (name) => {
    const older = "Object.defineProperty(process,'versions',{value:{...process.versions,node:'18.20.8'}})";
    const words = ['--import', `data:text/javascript,${older}`, join(dirname(BUNDLE), name), '--version'];
    const { stderr, status } = spawnSync(process.execPath, words, { encoding: 'utf8' });
    expect(stderr).toBe('posidle: Node 20.19 or later is needed; this is 18.20.8\n');
    expect(status).toBe(2);
  });

  test('lies beside the licenses of what is in it', () => {
    const text = readFileSync(join(dirname(BUNDLE), 'posidle.LICENSES.txt'), 'utf8');
    for (const name of ['posidle', 'chokidar', 'js-yaml', 'pidusage', 'pino', 'ps-list', 'yargs']) {
      expect(text).toMatch(new RegExp(`^${name} \\d+\\.\\d+\\.\\d+ \\(MIT\\)$`, 'm'));
    }
  });
});

import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { COMMANDS, type Command } from '../src/commands/options/commands.ts';
import { BUNDLE } from './pods/bundle.ts';
import { blocksIn } from './pods/readme.ts';
import { tempDir } from './support/temp-dir.ts';

const at = tempDir();
const PAGES = ['README.md', 'docker/README.md', 'docker/exporter/README.md'];
const ALL_PAGES = [
  ...PAGES,
  ...['ARCHITECTURE.md', 'CHANGELOG.md', 'CONTRIBUTING.md', 'LIMITS.md', 'SECURITY.md'],
  ...['src', 'test'].flatMap((dir) =>
    readdirSync(dir, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.md'))
      .map((name) => join(dir, name)),
  ),
];
/** The pages with commands. */
const COMMAND_PAGES = [...PAGES, 'CONTRIBUTING.md', 'src/commands/inspect-view/README.md'];
const { scripts, version } = JSON.parse(readFileSync('package.json', 'utf8')) as {
  scripts: Record<string, string>;
  version: string;
};
const hasKubectl = spawnSync('kubectl', ['version', '--client']).status === 0;
const readme = readFileSync('README.md', 'utf8');

test('README fits into five minutes', () => {
  expect(readme.trim().split(/\s+/).length).toBeLessThanOrEqual(1_000);
  expect(readme).toContain('npm ci && npm run demo\n');
  expect(readme).toContain('`npm ci && npm test`');
});

describe('each command of the pages', () => {
  for (const page of COMMAND_PAGES) {
    test.each(commandsIn(page))(`${page}: %s`, (command) => {
      const [tool = '', ...words] = command.split(/ +/);
      if (tool === 'npm') expectScript(words);
      else if (tool === 'kubectl') expectKubectl(words);
      else if (tool === 'posidle') expectOptions(words);
      else if (tool === 'node') expectHelp(words);
      else if (tool === 'npx') expect(existsSync(words.at(-1) ?? '')).toBe(true);
      else if (tool.startsWith('.')) expect(statSync(tool).mode & 0o111).not.toBe(0);
      else expect(['chmod', 'curl', 'docker', 'helm', 'jq', 'printf', 'skopeo', 'sleep']).toContain(tool);
      for (const [url] of command.matchAll(/https:[^ ']+/g)) expectPublished(url);
      for (const file of words.filter((word) => /^docker\//.test(word))) expect(existsSync(file)).toBe(true);
    });
  }
});

/** The commands in its blocks, at the beginning of its transcripts, and in its text. */
function commandsIn(page: string): readonly string[] {
  const typed = blocksIn(page, 'console').flatMap((block) => block.match(/(?<=^\$ ).*$/gm) ?? []);
  const inText = readFileSync(page, 'utf8').matchAll(/`((?:npm|npx|node|kubectl|posidle) [^`]* [^`]+)`/g);
  const lines = [...blocksIn(page, 'sh').flatMap((block) => block.split(/(?<! &&)\n/)), ...typed];
  return [...lines, ...[...inText].map(([, command = '']) => command)]
    .flatMap((line) => line.replace(/ +#.*$/, '').split(/ &&\s+| \| (?=posidle|jq)/))
    .filter((command) => !command.includes('…') && !command.startsWith('posidle run'));
}

/** posidle's own table has the options that it knows. */
function expectOptions([command, ...words]: readonly string[]): void {
  const known: Readonly<Record<string, Command>> = COMMANDS;
  const options = Object.keys({ help: true, ...known[command ?? '']?.options });
  const given = words.flatMap((word) => /^--([\w-]+)/.exec(word)?.[1] ?? []);
  expect(options).toEqual(expect.arrayContaining(given));
}

function expectHelp([file = '', command = '']: readonly string[]): void {
  expect(['dist/cli.js', 'posidle.cjs']).toContain(file);
  expect(spawnSync(process.execPath, [BUNDLE, command, '--help']).status).toBe(0);
}

/** Checks without a cluster: kubectl and posidle accept the words, and the files exist. */
function expectKubectl(words: readonly string[]): void {
  if (words[0] === 'posidle') {
    expectOptions(words.slice(1));
    return;
  }
  // Neither the network, nor a shell, nor another plugin is asked.
  if (hasKubectl && !words.some((word) => /^krew$|https:|<\(/.test(word))) expectAccepted(words);
  const inner = words.indexOf('--');
  if (inner < 0) return;
  const [tool = '', ...rest] = words.slice(inner + 1);
  if (['cat', 'sh'].includes(tool)) return;
  expect(tool === 'node' ? rest.shift() : tool).toMatch(
    /^(\/opt\/posidle\/posidle\.cjs|\/posidle\/posidle|posidle)$/,
  );
  expectOptions(rest);
}

/** A file of a release is one that the workflow attaches; a remote folder is one of this repository. */
function expectPublished(url: string): void {
  const [, file, folder, tag] =
    /^https:\/\/github\.com\/OWNER\/posidle\/(?:releases\/download\/v0\.1\.0\/(.*)|\/(.*)\?ref=(v0\.1\.0))$/.exec(
      url,
    ) ?? [];
  if (file !== undefined)
    expect(readFileSync('.github/workflows/release.yml', 'utf8')).toContain(`dist/${file}\n`);
  else {
    expect(tag).toBe(`v${version}`);
    expect(existsSync(join(folder ?? '', 'kustomization.yaml'))).toBe(true);
  }
}

const MANIFEST = JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'x' } });

/** kubectl looks for its server only when it has understood all words and has read all files. */
function expectAccepted(words: readonly string[]): void {
  const file = at('manifest.yaml');
  writeFileSync(file, MANIFEST);
  const given = words.map((word) => (/^(job|install|injected)\.yaml$/.test(word) ? file : word));
  const files = given.map((word) =>
    word.replace(/=(dist\/)?posidle\.cjs$/, `=${BUNDLE}`).replace('=asleep', '=docker/image/asleep'),
  );
  const { stderr } = spawnSync('kubectl', ['--server=http://127.0.0.1:1', ...files], {
    encoding: 'utf8',
    env: { ...process.env, KUBECONFIG: '/dev/null' },
  });
  expect(stderr).toMatch(/refused/);
}

function expectScript([verb, name]: readonly string[]): void {
  if (verb === 'run') expect(scripts).toHaveProperty([name ?? '']);
  else expect(['ci', 'test']).toContain(verb);
}

test.each(ALL_PAGES)('%s links only to what is there', (page) => {
  const links = [...readFileSync(page, 'utf8').matchAll(/\]\(([^)#:]*)(?:#([^)]*))?\)/g)];
  for (const [, target = '', anchor] of links) {
    const file = target === '' ? page : join(dirname(page), target);
    expect(existsSync(file), file).toBe(true);
    if (anchor !== undefined) expect(anchorsIn(file)).toContain(anchor);
  }
});

/** As GitHub makes them from headings. */
function anchorsIn(page: string): readonly string[] {
  const headings = [...readFileSync(page, 'utf8').matchAll(/^#+ (.*)$/gm)];
  return headings.map(([, text = '']) =>
    text
      .toLowerCase()
      .replace(/[^\w -]/g, '')
      .replaceAll(' ', '-'),
  );
}

test('LIMITS explains each kind of what is left or doubted once, and no other', () => {
  const [, types = ''] = /export type Left =(.*)export interface PendingChunks/s.exec(
    readFileSync('src/core/progress/progress.ts', 'utf8'),
  ) ?? [''];
  const kinds = types.matchAll(/(?<!next: .*)'([\w-]+)'/g);
  const page = readFileSync('LIMITS.md', 'utf8');
  const [tables = ''] = /(?<=## What was left or doubted\n).*?(?=\n## )/s.exec(page) ?? [];
  const rows = tables.split('\n').flatMap((line) => /^\| (`[^|]*)/.exec(line)?.[1] ?? []);
  const told = rows.flatMap((cell) => [...cell.matchAll(/`([\w-]+)`/g)].map(([, kind]) => kind));
  expect(told.filter((kind) => kind !== 'kind').toSorted()).toEqual(
    [...new Set([...kinds].map(([, kind]) => kind))].toSorted(),
  );
});

test('the witness has the size that README names', () => {
  const files = ['witness', 'files', 'orders', 'receipts', 'enumerator'];
  const bytes = files.reduce((sum, name) => sum + statSync(`src/core/witness/${name}.rb`).size, 0);
  expect(readFileSync('README.md', 'utf8')).toContain(`a Ruby program (${Math.round(bytes / 1_024)} KiB)`);
});

// kubectl apply keeps it in an annotation, in base64: 150 KiB are 200 there, of 256 for all (TotalAnnotationSizeLimitB).
test('the bundle is as small as docker/README says', () => {
  const [, most] =
    /`posidle\.cjs` has less than (\d+) KiB/.exec(readFileSync('docker/README.md', 'utf8')) ?? [];
  expect(statSync(BUNDLE).size).toBeLessThan(Number(most) * 1_024);
});

test("README's table counts what the bench on a cluster showed", () => {
  const [, bench = ''] = /<!-- bench:cluster -->\n([\s\S]*?)<!-- \/bench:cluster -->/.exec(
    readFileSync('test/cluster/README.md', 'utf8'),
  ) ?? [''];
  const rows = bench
    .trim()
    .split('\n')
    .slice(2)
    .map((row) => row.split('|').map((cell) => cell.trim()));
  const shown = (column: number) => {
    const cells = rows.map((row) => row[column] ?? '');
    const seconds = cells.map((cell) => Number(/ · (\S+) s/.exec(cell)?.[1])).sort((a, b) => a - b);
    const [least = 0, most = 0] = [seconds[0], seconds.at(-1)].map((one) => Math.round(one ?? 0));
    return `${cells.filter((cell) => cell.startsWith('**')).length} of ${rows.length} | ${least} to ${most} s`;
  };
  const claimed = [...readme.matchAll(/^\| .* \| (\d+ of \d+ \| .* s) \|$/gm)].map(([, row]) => row);
  const strategies = rows[0]?.slice(2, -1) ?? [];
  expect(claimed).toEqual(strategies.map((_, at) => shown(at + 2)));
});

// test/e2e/drain.test.ts shows that posidle says these lines.
test.each([
  ['PosidleNotDrained', [2]],
  ['PosidleUnproven', [1, 3]],
])('of the last lines that docker/README shows the alert %s takes its own, and no other', (alert, its) => {
  const lines = blocksIn('docker/README.md', 'console')[0]?.trim().split('\n') ?? [];
  expect(lines.flatMap((line, at) => (patternOf(alert).test(line) ? [at] : []))).toEqual(its);
});

test('the alert PosidleRecordsLost takes a number of lost records, and no mere doubt', () => {
  const lost = 'http: 1 record lost (retries used up) [undelivered]';
  expect(patternOf('PosidleRecordsLost').test(`Fluentd is gone; unproven: ${lost}`)).toBe(true);
  expect(patternOf('PosidleRecordsLost').test('Fluentd is gone; unproven: the witness is lost')).toBe(false);
});

test("docker/README's search leaves out a Pod without Fluentd, and no other", () => {
  const [, search = ''] = /`(test -z .*? warnings\)")`/.exec(readFileSync('docker/README.md', 'utf8')) ?? [];
  const stopsAt = (image: string) => {
    const input = `kind: Pod\nmetadata: { name: p }\nspec: { containers: [{ name: main, image: ${image} }] }\n`;
    const { stderr } = spawnSync(process.execPath, [BUNDLE, 'inject', '-'], { input, encoding: 'utf8' });
    writeFileSync(at('warnings'), stderr);
    return spawnSync('sh', ['-ec', `${search}; echo on`], { cwd: at(), encoding: 'utf8' }).stdout === '';
  };
  expect(stopsAt('nginx')).toBe(false);
  expect(stopsAt('acme/fluentd:1')).toBe(true);
});

/** What an alert on the log searches for. */
function patternOf(alert: string): RegExp {
  const rules = readFileSync('docker/alerts-loki.yaml', 'utf8');
  const [, pattern = '^'] = new RegExp(`${alert}\n.*\\|[=~] "(.*?)"`).exec(rules) ?? [];
  return new RegExp(pattern);
}

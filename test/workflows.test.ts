import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, readFileSync } from 'node:fs';
import * as yaml from 'js-yaml';
import { describe, expect, test } from 'vitest';
import { tempDir } from './support/temp-dir.ts';

interface Workflow {
  readonly jobs: { readonly build: { readonly steps: readonly { readonly run?: string }[] } };
}

const at = tempDir();

describe('a release', () => {
  const { build } = (yaml.load(readFileSync('.github/workflows/release.yml', 'utf8')) as Workflow).jobs;
  /** Runs the step of the build that has this word. */
  const runStep = (word: string, env: Readonly<Record<string, string>>) => {
    const step = build.steps.find(({ run }) => run?.includes(word))?.run ?? '';
    execFileSync('bash', ['-ec', step], {
      cwd: at(),
      env: { ...process.env, GITHUB_REPOSITORY: 'Some-One/posidle', ...env },
    });
  };

  test('names its repository and its image wherever the pages say OWNER', () => {
    const pages = ['README.md', 'docker/README.md', 'docker/exporter/README.md'];
    for (const page of pages) cpSync(page, at(page));
    runStep('OWNER', { GITHUB_REPOSITORY_OWNER: 'Some-One' });
    const text = pages.map((page) => readFileSync(at(page), 'utf8')).join('');
    expect(text).toContain('https://github.com/Some-One/posidle/releases/download/');
    expect(text).toContain('newName: ghcr.io/some-one/posidle');
    expect(text).not.toMatch(/OWNER/);
    expect(text).toContain('`delete` ends a Job that runs');
  });

  test('attaches a kubectl plugin whose manifest has the sum of its archive', () => {
    cpSync('docker/krew.yaml', at('docker/krew.yaml'));
    for (const file of ['LICENSE', 'dist/posidle.cjs', 'dist/posidle.LICENSES.txt']) cpSync(file, at(file));
    runStep('krew.yaml', { GITHUB_REF_NAME: 'v1.2.3' });
    const text = readFileSync(at('dist/krew.yaml'), 'utf8');
    expect(text).not.toMatch(/OWNER\/|SHA256/);
    const { spec } = yaml.load(text) as {
      spec: { version: string; platforms: Readonly<Record<string, string>>[] };
    };
    const archive = readFileSync(at('dist/kubectl-posidle.tar.gz'));
    expect(spec.version).toBe('v1.2.3');
    expect(spec.platforms).toMatchObject([
      {
        uri: 'https://github.com/Some-One/posidle/releases/download/v1.2.3/kubectl-posidle.tar.gz',
        sha256: createHash('sha256').update(archive).digest('hex'),
        bin: 'posidle.cjs',
      },
    ]);
    const packed = execFileSync('tar', ['tzf', '-'], { input: archive, encoding: 'utf8' });
    expect(packed.trim().split('\n')).toEqual(['posidle.cjs', 'posidle.LICENSES.txt', 'LICENSE']);
  });
});

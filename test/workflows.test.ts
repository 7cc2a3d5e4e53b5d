import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, readdirSync, readFileSync } from 'node:fs';
import * as yaml from 'js-yaml';
import { describe, expect, test } from 'vitest';
import { blocksIn } from './pods/readme.ts';
import { tempDir } from './support/temp-dir.ts';

interface Step {
  readonly run?: string;
  readonly uses?: string;
  readonly with?: Readonly<Record<string, unknown>>;
}

interface Job {
  readonly needs?: string | readonly string[];
  readonly permissions?: Readonly<Record<string, string>>;
  readonly steps?: readonly Step[];
}

const DIR = '.github/workflows';
const at = tempDir();
const names = readdirSync(DIR);
const textOf = (name: string) => readFileSync(`${DIR}/${name}`, 'utf8');

test.each(names)('%s names each action by its commit, with its version beside it', (name) => {
  const uses = textOf(name).match(/^.*\buses: (?!\.\/).*$/gm) ?? [];
  expect(uses.length).toBeGreaterThan(0);
  for (const line of uses) expect(line).toMatch(/uses: [\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
});

describe('a release', () => {
  const { jobs } = yaml.load(textOf('release.yml')) as { jobs: Readonly<Record<string, Job>> };
  const neededBy = (name: string): readonly string[] =>
    [jobs[name]?.needs ?? []].flat().flatMap((one) => [one, ...neededBy(one)]);
  const publishing = Object.keys(jobs).filter((name) => jobs[name]?.permissions !== undefined);

  test('publishes nothing that was not tested before', () => {
    expect(publishing.sort()).toEqual(['image', 'npm', 'release']);
    for (const name of publishing) expect(neededBy(name)).toContain('test');
  });

  test('names its repository and its image wherever the pages say OWNER', () => {
    const step =
      jobs['build']?.steps?.flatMap(({ run }) => run ?? []).find((run) => run.includes('OWNER')) ?? '';
    const pages = ['README.md', 'docker/README.md', 'docker/exporter/README.md'];
    for (const page of pages) cpSync(page, at(page));
    const env = {
      ...process.env,
      GITHUB_REPOSITORY: 'Some-One/posidle',
      GITHUB_REPOSITORY_OWNER: 'Some-One',
    };
    execFileSync('bash', ['-ec', step], { cwd: at(), env });
    const text = pages.map((page) => readFileSync(at(page), 'utf8')).join('');
    expect(text).toContain('https://github.com/Some-One/posidle/releases/download/');
    expect(text).toContain('newName: ghcr.io/some-one/posidle');
    expect(text).not.toMatch(/OWNER/);
  });

  test('attaches a kubectl plugin whose manifest has the sum of its archive', () => {
    const step =
      jobs['build']?.steps?.flatMap(({ run }) => run ?? []).find((run) => run.includes('krew.yaml')) ?? '';
    cpSync('docker/krew.yaml', at('docker/krew.yaml'));
    for (const file of ['LICENSE', 'dist/posidle.cjs', 'dist/posidle.LICENSES.txt']) cpSync(file, at(file));
    const env = { ...process.env, GITHUB_REPOSITORY: 'Some-One/posidle', GITHUB_REF_NAME: 'v1.2.3' };
    execFileSync('bash', ['-ec', step], { cwd: at(), env });
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

  test('runs no script of a package where it can publish', () => {
    const runs = publishing.flatMap((name) => jobs[name]?.steps?.flatMap(({ run }) => run ?? []) ?? []);
    const npm = runs.filter((run) => /\b(npm|npx|node)\b/.test(run));
    expect(npm).toEqual([expect.stringMatching(/^npm publish --ignore-scripts .*\.tgz$/)]);
  });

  test('holds no token that lives longer than its run', () => {
    expect(textOf('release.yml')).not.toContain('secrets.');
    expect(jobs['npm']?.permissions).toEqual({ 'id-token': 'write' });
  });

  test('attests each file and the image, as SECURITY.md says how to verify', () => {
    const attested = (name: string) =>
      jobs[name]?.steps?.find(({ uses }) => uses?.startsWith('actions/attest-build-provenance@'))?.with;
    expect(attested('release')).toEqual({ 'subject-path': 'dist/*' });
    const built = jobs['image']?.steps?.find(({ uses }) => uses?.startsWith('docker/build-push-action@'));
    expect(built).toMatchObject({ id: 'image', with: { provenance: true, sbom: true } });
    expect(attested('image')).toEqual({
      'subject-name': expect.stringMatching(/^ghcr\.io\/\$\{\{ steps\.version\.outputs\.owner }}\/posidle$/),
      'subject-digest': expect.stringMatching(/^\$\{\{ steps\.image\.outputs\.digest }}$/),
      'push-to-registry': true,
    });
    for (const name of ['release', 'image'])
      expect(jobs[name]?.permissions).toMatchObject({ 'id-token': 'write', attestations: 'write' });
    const verify = blocksIn('SECURITY.md', 'sh').join('\n').split('\n');
    expect(verify).toEqual([
      'gh attestation verify posidle.cjs --repo OWNER/posidle',
      'gh attestation verify oci://ghcr.io/OWNER/posidle:0.1.0 --repo OWNER/posidle',
      "docker buildx imagetools inspect ghcr.io/OWNER/posidle:0.1.0 --format '{{json .SBOM}}'",
    ]);
  });
});

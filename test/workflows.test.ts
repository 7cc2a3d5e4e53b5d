import { readdirSync, readFileSync } from 'node:fs';
import yaml from 'js-yaml';
import { describe, expect, test } from 'vitest';

interface Job {
  readonly needs?: string | readonly string[];
  readonly permissions?: Readonly<Record<string, string>>;
  readonly steps?: readonly { readonly run?: string; readonly env?: Readonly<Record<string, string>> }[];
}

const DIR = '.github/workflows';
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

  test('runs no script of a package where it can publish', () => {
    const runs = publishing.flatMap((name) => jobs[name]?.steps?.flatMap(({ run }) => run ?? []) ?? []);
    const npm = runs.filter((run) => /\b(npm|npx|node)\b/.test(run));
    expect(npm).toEqual([expect.stringMatching(/^npm publish --ignore-scripts .*\.tgz$/)]);
  });

  test('gives the token of the registry to the job that publishes there, and to no other', () => {
    const holders = Object.keys(jobs).filter((name) => JSON.stringify(jobs[name]).includes('secrets.'));
    expect(holders).toEqual(['npm']);
  });
});

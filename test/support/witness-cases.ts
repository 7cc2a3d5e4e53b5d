import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, test } from 'vitest';
import { NEWEST, OLDEST_AND_NEWEST, requireFluentd, TESTED_VERSIONS } from './real-fluentd.ts';

const DIR = new URL('../witness/', import.meta.url);
/** The script's word for what cannot be shown here (no right to mount, say). */
const SKIPPED = 77;
const LIMIT = 170_000;

/** The words that begin a case, and what it runs on. */
const VERSIONS: Readonly<Record<string, readonly string[]>> = {
  it: [NEWEST],
  on_oldest_and_newest: OLDEST_AND_NEWEST,
  on_each_version: TESTED_VERSIONS,
};

/** Each case of a Ruby script in test/witness is a test on each version that it is for; it fails by what the script says. */
export function witnessCases(name: string): void {
  const script = fileURLToPath(new URL(`${name}.rb`, DIR));
  const text = readFileSync(script, 'utf8');
  const cases = [...text.matchAll(/^(it|on_\w+)[ (](['"])(.*?)\2\)? (?:do|\{)/gm)];
  if (text.match(/^ *(it|on_\w+)[ (]['"]/gm)?.length !== cases.length)
    throw new Error(`${name}.rb has a case that is not found here`);
  const casesOn = (version: string) =>
    cases.filter(([, word = '']) => VERSIONS[word]?.includes(version)).map(([, , , title = '']) => title);
  const versions = TESTED_VERSIONS.filter((version) => casesOn(version).length > 0);
  describe.each(versions)('the witness on Fluentd %s', { concurrent: true }, (version) => {
    for (const title of casesOn(version)) {
      test(title, async (context) => {
        const { command, env } = requireFluentd(version, context);
        const note = await runCase([script, title], {
          FLUENTD: command,
          FLUENTD_GEMS: env.GEM_HOME,
          FLUENTD_VERSION: version,
        });
        if (note !== undefined) context.skip(note);
      });
    }
  });
}

/** Why this machine cannot show it, or undefined if it holds. */
async function runCase(args: string[], env: NodeJS.ProcessEnv): Promise<string | undefined> {
  try {
    // Without gems it starts in a third of the time.
    await promisify(execFile)('ruby', ['--disable-gems', ...args], {
      env: { ...process.env, ...env },
      timeout: LIMIT,
    });
    return undefined;
  } catch (error) {
    const { code, stderr } = error as { code?: number; stderr?: string };
    if (code === SKIPPED) return String(stderr);
    throw new Error(stderr || String(error));
  }
}

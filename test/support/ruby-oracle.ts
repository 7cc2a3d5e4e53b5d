import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';

/** Runs a Ruby program that prints one JSON value; `input` is what it finds, parsed, in INPUT. */
export function askRuby(program: string, input: unknown, env: NodeJS.ProcessEnv): unknown {
  // Newer Fluentds have a Ruby of their own.
  const own = join(String(env.GEM_HOME), 'bin/ruby');
  const script = `require 'json'; INPUT = JSON.parse(STDIN.read)\n${program}`;
  const options = {
    input: JSON.stringify(input),
    env,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  } as const;
  const { status, stdout, stderr } = spawnSync(
    existsSync(own) ? own : 'ruby',
    ['-Eutf-8:utf-8', '-e', script],
    options,
  );
  if (status !== 0) throw new Error(`ruby: ${stderr}`);
  return JSON.parse(stdout);
}

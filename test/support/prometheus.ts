import { spawnSync } from 'node:child_process';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';

interface Skips {
  skip(note: string): void;
}

/** As .ci/install-promtool puts it; where it is missing the test is skipped, but not under CI=true. */
function promtoolFor(context?: Skips): string | undefined {
  const cached = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'posidle/bin/promtool');
  const found = [cached, 'promtool'].find((path) => spawnSync(path, ['--version']).error === undefined);
  if (found !== undefined) return found;
  const reason = 'promtool is not installed: run .ci/install-promtool';
  if (process.env.CI === 'true') throw new Error(reason);
  context?.skip(reason);
  return undefined;
}

export function expectNoFault(args: readonly string[], input = '', context?: Skips): void {
  const promtool = promtoolFor(context);
  if (promtool === undefined) return;
  const { status, stdout, stderr } = spawnSync(promtool, args, { input, encoding: 'utf8' });
  expect({ status, told: status === 0 ? '' : stdout, stderr }).toEqual({ status: 0, told: '', stderr: '' });
}

export interface Rules {
  readonly groups: readonly {
    readonly name: string;
    readonly rules: readonly { readonly alert: string; readonly expr: string; readonly for?: string }[];
  }[];
}

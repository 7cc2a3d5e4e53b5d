import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import * as yaml from 'js-yaml';
import { expect } from 'vitest';
import { freePort } from './free-port.ts';
import { type ProcessGroup, startGroup } from './process-group.ts';
import { until } from './until.ts';

interface Skips {
  skip(note: string): void;
}

/** Prometheus or promtool, as .ci/install-promtool puts them; where they are missing the test is skipped, but not under CI=true. */
function toolOf(name: 'prometheus' | 'promtool', context?: Skips): string | undefined {
  const cached = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'posidle/bin', name);
  const found = [cached, name].find((path) => spawnSync(path, ['--version']).error === undefined);
  if (found !== undefined) return found;
  const reason = `${name} is not installed: run .ci/install-promtool`;
  if (process.env.CI === 'true') throw new Error(reason);
  context?.skip(reason);
  return undefined;
}

/** Promtool finds no fault. */
export function expectNoFault(args: readonly string[], input = '', context?: Skips): void {
  const promtool = toolOf('promtool', context);
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

export interface Prometheus extends ProcessGroup {
  /** The names of the alerts that are firing. */
  firing(): Promise<readonly string[]>;
  /** The results of a query at this time. */
  query(expr: string): Promise<readonly { readonly value: readonly [number, string] }[]>;
}

/** A Prometheus that scrapes one target every two seconds. */
export async function startPrometheus(
  dir: string,
  { target, rules }: { readonly target: string; readonly rules: Rules },
  context: Skips,
): Promise<Prometheus | undefined> {
  const command = toolOf('prometheus', context);
  if (command === undefined) return undefined;
  mkdirSync(dir);
  const port = await freePort();
  const conf = {
    global: { scrape_interval: '2s', scrape_timeout: '2s', evaluation_interval: '1s' },
    rule_files: [join(dir, 'rules.yml')],
    scrape_configs: [{ job_name: 'posidle', static_configs: [{ targets: [target] }] }],
  };
  writeFileSync(join(dir, 'rules.yml'), yaml.dump(rules));
  writeFileSync(join(dir, 'prometheus.yml'), yaml.dump(conf));
  const log = join(dir, 'log');
  const flags = [
    'config.file=prometheus.yml',
    'storage.tsdb.path=data',
    `web.listen-address=127.0.0.1:${port}`,
  ];
  const group = startGroup([command, ...flags.map((flag) => `--${flag}`)], { log, cwd: dir });
  const ask = async (path: string) => {
    const answer = await fetch(`http://127.0.0.1:${port}${path}`);
    return ((await answer.json()) as { data: unknown }).data;
  };
  await until('Prometheus is ready', () =>
    fetch(`http://127.0.0.1:${port}/-/ready`).then(
      ({ ok }) => ok,
      () => false,
    ),
  );
  return {
    ...group,
    firing: async () => {
      const { alerts } = (await ask('/api/v1/alerts')) as {
        alerts: { state: string; labels: { alertname: string } }[];
      };
      return alerts.filter(({ state }) => state === 'firing').map(({ labels }) => labels.alertname);
    },
    query: async (expr) => {
      const { result } = (await ask(`/api/v1/query?query=${encodeURIComponent(expr)}`)) as {
        result: { value: [number, string] }[];
      };
      return result;
    },
  };
}

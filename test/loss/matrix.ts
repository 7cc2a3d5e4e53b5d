import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { IdTally } from '../support/numbered-lines.ts';
import type { Exit } from '../support/process-group.ts';
import { type Fluentd, fluentdVersions } from '../support/real-fluentd.ts';
import { breachesOf, outcomeIn, signalledAt } from './breaches.ts';
import type { Sidecar } from './container.ts';
import { planFor, type Scales } from './plan.ts';
import { makePod, type Pod } from './pod.ts';
import { type Scenario, scenarios, writeConf } from './scenarios.ts';
import { type Strategy, strategies, triggered } from './strategies.ts';

export interface Selection extends Scales {
  only?: readonly number[];
  strategy?: readonly string[];
  version?: readonly string[];
  /** posidle with each of its triggers, in place of posidle and its rivals. */
  triggers?: boolean;
  runs: number;
  /** Keeps the directory of a run that lost something. */
  keep?: boolean;
}

export interface Result {
  scenario: number;
  title: string;
  strategy: string;
  version: string;
  run: number;
  written: number;
  delivered: number;
  /** written − delivered; what is left in buffers on disk is part of it, for the disk ends with the Pod. */
  lost: number;
  onDisk: number;
  duplicates: number;
  /** From main's end to the end of the Pod; negative where the sidecar ended first. */
  seconds: number;
  /** How posidle broke its promise; rivals promise nothing. */
  broken: readonly string[];
  /** From main's end to posidle's stop signal; what follows is Fluentd's own shutdown. */
  signalled?: number;
  exit: Exit;
  /** The sidecar had to be killed by the harness: it would never have ended. */
  endless: boolean;
  /** The last lines that the watcher printed, where something was lost. */
  said?: string;
  dir?: string;
}

const POD_LIMIT = 6 * 60_000;

export interface Cell {
  scenario: Scenario;
  strategy: Strategy;
  fluentd: Fluentd;
  run: number;
}

export function cells(selection: Selection): Cell[] {
  const wanted = <T>(list: readonly T[] | undefined, item: T) => list === undefined || list.includes(item);
  const chosen = scenarios.filter(({ id }) => wanted(selection.only, id));
  const rivals = (selection.triggers ? triggered : strategies).filter(({ name }) =>
    wanted(selection.strategy, name),
  );
  const versions = fluentdVersions().filter(({ version }) => wanted(selection.version, version));
  const runs = Array.from({ length: selection.runs }, (_, index) => index + 1);
  return versions.flatMap((fluentd) =>
    chosen
      .filter(({ since }) => since === undefined || !olderThan(fluentd.version, since))
      .flatMap((scenario) =>
        rivals.flatMap((strategy) => runs.map((run) => ({ scenario, strategy, fluentd, run }))),
      ),
  );
}

function olderThan(version: string, least: string): boolean {
  return version.localeCompare(least, 'en', { numeric: true }) < 0;
}

export async function runCell(
  cell: Cell,
  selection: Pick<Selection, 'time' | 'volume' | 'keep'>,
): Promise<Result> {
  const { scenario, strategy, fluentd } = cell;
  const pod = await makePod(planFor(fluentd, selection), `loss-${scenario.id}-${strategy.name}`);
  let sidecar: Sidecar | undefined;
  let kept = false;
  try {
    writeConf(scenario, pod);
    await scenario.before?.(pod);
    sidecar = strategy.start(pod, scenario);
    const result = count(cell, pod, await livePod(cell, pod, sidecar));
    kept = selection.keep === true && (result.lost > 0 || result.broken.length > 0);
    return kept ? { ...result, dir: pod.dir } : result;
  } catch (error) {
    const logs = [pod.fluentdLog, pod.watcherLog].map((path) => `${path}:\n${lastLines(path)}`);
    throw new Error([(error as Error).message, ...logs].join('\n'), { cause: error });
  } finally {
    sidecar?.group.kill();
    await sidecar?.group.exited.catch(() => undefined);
    await pod.sink.stop();
    if (!kept) rmSync(pod.dir, { recursive: true, force: true });
  }
}

interface Life {
  exit: Exit;
  seconds: number;
  signalled?: number;
  endless: boolean;
}

async function livePod({ scenario }: Cell, pod: Pod, { group, mainEnded }: Sidecar): Promise<Life> {
  let endless = false;
  const limit = setTimeout(() => {
    endless = true;
    group.kill();
  }, POD_LIMIT);
  try {
    const ended = group.exited.then((exit) => ({ exit, at: performance.now() }));
    await scenario.main(pod);
    const mainAt = performance.now();
    const mainDate = Date.now();
    writeFileSync(pod.marker, '');
    // Where the sidecar has ended before, nobody is there to be told.
    if (group.process.exitCode === null) await mainEnded?.();
    const { exit, at } = await ended;
    const signalled = signalledAt(pod.watcherLog);
    return {
      exit,
      seconds: tenths(at - mainAt),
      ...(signalled !== undefined && { signalled: tenths(signalled - mainDate) }),
      endless,
    };
  } finally {
    clearTimeout(limit);
  }
}

function count({ scenario, strategy, fluentd, run }: Cell, pod: Pod, life: Life): Result {
  const delivered = pod.sink.tally;
  delivered.addFile(pod.fluentdLog);
  const disk = new IdTally();
  if (existsSync(pod.buffer)) disk.addDirectory(pod.buffer);
  const { written } = pod.lines;
  const lost = written - delivered.unique;
  const result = {
    scenario: scenario.id,
    title: scenario.title,
    strategy: strategy.name,
    version: fluentd.version,
    run,
    written,
    delivered: delivered.unique,
    lost,
    onDisk: disk.notIn(delivered),
    duplicates: delivered.duplicates,
    ...life,
  };
  const trigger = strategy.promises(scenario);
  const broken =
    trigger === undefined
      ? []
      : breachesOf(result, trigger, outcomeIn(pod.watcherLog), scenario.isUnproven ? 'unproven' : 'drained');
  const isStriking = lost > 0 || broken.length > 0;
  return { ...result, broken, ...(isStriking && { said: lastLines(pod.watcherLog) }) };
}

function tenths(ms: number): number {
  return Math.round(ms / 100) / 10;
}

function lastLines(path: string): string {
  return existsSync(path) ? readFileSync(path, 'utf8').trimEnd().split('\n').slice(-8).join('\n') : '';
}

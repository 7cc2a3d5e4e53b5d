import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { build, type Plugin } from 'esbuild';

/** One change to a file of src/core: each must be found. */
type Mutant = readonly [file: string, from: string, to: string];

const WORD = "left.length > 0 ? 'not-drained' : doubts.length > 0 ? 'unproven' : 'drained'";

export const MUTANTS: readonly Mutant[] = [
  ['drain/outcome.ts', WORD, "'unproven'"],
  ['drain/outcome.ts', WORD, "'not-drained'"],
  ['drain/outcome.ts', WORD, "'drained'"],
  ['drain/outcome.ts', '.filter((one) => !isDoubted(one))', '.slice(1)'],
  ['progress/progress.ts', 'due.has(id)', 'false'],
  ['look/progress-from-files.ts', 'departedAt + rotateWait + IN_TAIL_TICK', '0'],
  ['look/progress-from-files.ts', 'files.flatMap(unread)', '[]'],
  ['look/progress-from-files.ts', '...unfoundIn(seen)', '...[]'],
  ['look/progress-from-files.ts', '...heldBy(buffers)', '...[]'],
  ['look/progress-from-files.ts', 'memory.supervisor.since + (isUp ? settle : SLOW_START)', '0'],
  ['look/progress-in.ts', 'isAlive && isComplete(reports)', 'true'],
  ['look/progress-in.ts', 'asOf(seen.aliveAt, progress)', 'progress'],
  ['witness/reports.ts', "one.kind === 'gone' && one.report?.isFinal === true", 'true'],
  ['witness/left.ts', 'isAlive ? report.files.flatMap(unreadIn) : []', '[]'],
  ['witness/left.ts', '...report.closed.flatMap((file) => letGo(file, history))', '...[]'],
  ['witness/receipts.ts', '...outputs.flatMap(doubtsOfOutput)', '...[]'],
  ['witness/doubts-of-files.ts', '...doubtsOfLost(report)', '...[]'],
  ['drain/gates.ts', 'if (fluentd.successor !== undefined)', 'if (fluentd.kind === "running")'],
  ['fluentd/processes.ts', 'others.find((row) => before', 'table.find((row) => before'],
  ['drain/gates.ts', 'flushedAt >= (progress.movedAt ?? flushedAt)', 'true'],
  ['drain/gates.ts', '!isOver(progress.busyUntil, seen.at)', 'false'],
  ['drain/deadlines.ts', 'signal.at + policy.grace - stopReserve(policy)', 'signal.at + 100 * policy.grace'],
  ['drain/deadlines.ts', 'Math.min(own, byGrace)', 'Math.max(own, byGrace)'],
  ['drain/step.ts', 'isOver(closingTime(deadline), seen.at) ||', 'false ||'],
  ['drain/step.ts', 'isGuess(trigger) && hasMovedSince', 'false && hasMovedSince'],
  ['drain/step.ts', 'state.emptyAt < seen.at', 'state.emptyAt <= seen.at'],
  ['drain/step.ts', 'closingAt === undefined && gate', 'false && gate'],
  [
    'drain/step.ts',
    "changeTo({ name: 'killing', since: seen.at, ...result }, why, [{ do: 'kill' }])",
    'stay(state, deadline)',
  ],
  ['drain/trigger.ts', "|| !isLeft(seen.progress, 'unread')", '|| true'],
  ['look/file-state.ts', 'look.newlineLeft === false) return { state', 'true) return { state'],
  ['look/undiscovered.ts', 'position !== null', 'true'],
];

const OUT = resolve(`node_modules/.cache/posidle/mutant-${process.pid}.mjs`);

function planted([file, from, to]: Mutant): Plugin {
  const path = resolve('src/core', file);
  return {
    name: 'mutant',
    setup(plugins) {
      plugins.onLoad({ filter: /\.ts$/ }, (args) => {
        if (args.path !== path) return undefined;
        const text = readFileSync(path, 'utf8');
        if (!text.includes(from)) throw new Error(`${file} has no ${from}`);
        return { contents: text.replace(from, to), loader: 'ts' };
      });
    },
  };
}

/** The simulation's violation for a planted bug, or undefined if it finds none. */
export async function killedBy(mutant: Mutant, seeds: string): Promise<string | undefined> {
  await build({
    entryPoints: ['test/simulation/main.ts'],
    outfile: OUT,
    bundle: true,
    platform: 'node',
    format: 'esm',
    packages: 'external',
    logLevel: 'silent',
    plugins: [planted(mutant)],
  });
  const args = [OUT, '--seeds', seeds, '--from', '1', '--brief'];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  if (status !== 0 && stdout === '') throw new Error(`the simulation crashed: ${stderr}`);
  return status === 0 ? undefined : stdout.trimEnd().split('\n').at(-1);
}

// Planted bugs: npm run mutants [-- SEEDS]. Each is one change to the core; the simulation should find it.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { build, type Plugin } from 'esbuild';

type Mutant = readonly [file: string, from: string, to: string];

const MUTANTS: readonly Mutant[] = [
  ['drain/gates.ts', '!file.read', 'file.read && false'],
  ['drain/gates.ts', 'size > 0 && !unreadable', 'size > 0 && unreadable'],
  [
    'drain/gates.ts',
    "if (doubt !== undefined) return { name: 'pos-file'",
    "if (false) return { name: 'pos-file'",
  ],
  ['drain/gates.ts', 'if (fluentd.successor !== undefined)', 'if (fluentd.kind === "running")'],
  ['drain/gates.ts', 'flush.at >= (movedAt ?? flush.at)', 'true'],
  ['drain/gates.ts', 'waiting.chunks === 0 && waiting.bytes === 0 && !isTrying', 'true'],
  ['drain/deadlines.ts', 'rotatedAt + rotateWait + IN_TAIL_TICK + rest', 'rotatedAt'],
  ['drain/deadlines.ts', '+ policy.settle;\n  return Math.max(held', '+ 0;\n  return Math.max(held'],
  ['drain/deadlines.ts', 'signal.at + policy.grace - stopReserve(policy)', 'signal.at + 100 * policy.grace'],
  ['drain/deadlines.ts', 'Math.min(own, byGrace)', 'Math.max(own, byGrace)'],
  ['drain/deadlines.ts', 'Math.max(memory.supervisor.since + (isUp ? settle : SLOW_START), ofWorkers)', '0'],
  ['drain/step.ts', 'isOver(deadline - FLUSH_HEAD_START, seen.at) ||', 'false ||'],
  ['drain/step.ts', 'isGuess(trigger) && hasMovedSince', 'false && hasMovedSince'],
  ['drain/step.ts', 'state.emptyAt < seen.at', 'state.emptyAt <= seen.at'],
  ['drain/step.ts', 'closingAt === undefined && gate', 'false && gate'],
  [
    'drain/step.ts',
    "move({ name: 'killing', since: seen.at, ...result }, why, [KILL])",
    'stay(state, deadline)',
  ],
  ['drain/step.ts', '|| !hasBytesLeft(seen)', '|| true'],
  ['drain/outcome.ts', 'thrownAwayGate(outputs) ??', ''],
  ['drain/outcome.ts', 'abandonedGate(abandoned) ??', ''],
  ['drain/outcome.ts', 'lossGate(seen, end.kind, result) ??', ''],
  ['drain/outcome.ts', 'readGate(seen, acceptsEmpty(result?.trigger)) ??', ''],
  ['observe/abandoned.ts', '< size && !opened.has(inode)', '< size && opened.has(inode)'],
  ['observe/abandoned.ts', 'known === undefined ? inodeAt.get(path) : known.before', 'inodeAt.get(path)'],
  ['observe/ledger.ts', 'isOther || now.isChild || now.beganSeen', 'isOther'],
  [
    'observe/ledger.ts',
    'isOther ? begunAnew(ledger.accounts) : ledger.accounts',
    'isOther ? new Map() : ledger.accounts',
  ],
  ['observe/ledger.ts', '(isOther && mayHaveLost(ledger, now))', 'false'],
  ['observe/ledger.ts', 'const lost = Math.max(0, most - Math.max(before.last, now));', 'const lost = 0;'],
  [
    'observe/ledger.ts',
    'givenUp: reading.backups.filter(({ path }) => !oldBackups.has(path))',
    'givenUp: []',
  ],
  ['observe/observe.ts', 'files.every((file) => file.read) &&', ''],
  ['observe/workers.ts', '(gone && added.length > 0) ||', ''],
  ['look/file-state.ts', 'if (size < position) return', 'if (false) return'],
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

/** What the simulation says of a planted bug; undefined: it lives. */
async function killedBy(mutant: Mutant, seeds: string): Promise<string | undefined> {
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
  const { status, stdout } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  return status === 0 ? undefined : (stdout.trimEnd().split('\n').at(-1) ?? 'it crashed');
}

const seeds = process.argv[2] ?? '1500';
let killed = 0;
for (const mutant of MUTANTS) {
  const why = await killedBy(mutant, seeds);
  killed += why === undefined ? 0 : 1;
  console.log(
    `${why === undefined ? 'ALIVE ' : 'killed'} ${mutant.join(' | ').replaceAll('\n', ' ')}${why === undefined ? '' : ` — ${why}`}`,
  );
}
console.log(`${killed} of ${MUTANTS.length} planted bugs killed by ${seeds} lifetimes each`);

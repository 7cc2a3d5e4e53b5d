import { Random } from '../simulation/random.ts';
import type { Params } from '../support/fluentd-conf.ts';
import { LAZY, ON_DISK } from './sections.ts';
import type { Deed, Setup, Situation } from './situation.ts';
import { SITUATIONS } from './table.ts';

/** Seconds. A file that lives shorter than the witness's looks are apart, nobody need see (LIMITS.md). */
const SEEN: Deed = ['pause', 0.5];
const DESTROYS: readonly Deed[0][] = ['rename', 'copy', 'truncate', 'remove', 'write anew'];
/** Of in_tail and of a buffer, beside those of the table. */
const TAIL: readonly Params[] = [
  { refresh_interval: 0.2 },
  { rotate_wait: '0s' },
  { enable_stat_watcher: false },
  { open_on_every_update: true },
  { read_lines_limit: 1 },
  { read_bytes_limit_per_second: 8_192 },
  { skip_refresh_on_startup: true },
  { path: '{dir}/logs/**/*.log' },
  { path: '{dir}/logs/*.log*', follow_inodes: true },
];
const BUFFER: readonly Params[] = [
  LAZY,
  ON_DISK,
  { flush_mode: 'immediate' },
  { flush_at_shutdown: false },
  { flush_thread_count: 4 },
  { compress: 'gzip' },
  { retry_max_times: 1, retry_wait: 0.1 },
  { total_limit_size: '20k', chunk_limit_size: '8k', overflow_action: 'drop_oldest_chunk' },
  { total_limit_size: '20k', chunk_limit_size: '8k', overflow_action: 'block' },
];
const MOST_LINES = 3_000;
/** What fixes the time is for the player to choose here. */
const OMITTED: readonly Deed[0][] = [
  'main ends',
  'Fluentd starts',
  'until',
  'write text',
  'signal',
  'reload',
];
const PHRASES = SITUATIONS.map(({ deeds }) => deeds.filter(([what]) => !OMITTED.includes(what)));
/** After SIGKILL nothing is ever called drained. */
const SIGNALS = ['SIGHUP', 'SIGUSR1'] as const;

/** A situation that nobody thought of: features of the table, and a few more, at once. A seed makes the same one. */
export function randomSituation(seed: number): Situation {
  const random = new Random(seed);
  const deeds: Deed[] = [['write', 'app.log', 5]];
  for (let count = random.between(1, 5); count > 0; count -= 1) {
    const swap = random.chance(0.5);
    for (const deed of pickOf(random, PHRASES)) deeds.push(...spaced(swap ? swapped(deed) : deed, random));
    if (random.chance(0.1)) deeds.push(['signal', 'supervisor', random.pick(SIGNALS)], ['pause', 3]);
  }
  deeds.push(['pause', random.pick([0, 0.3, 1.5])]);
  if (random.chance(0.8)) deeds.push(['main ends'], ['destination', 'up'], ['each answer takes', 0]);
  const args = ['--drain-timeout', '15s', '--stop-timeout', '20s'];
  return {
    name: `seed-${seed}`,
    what: 'features at once',
    setup: setupOf(random),
    deeds: possible(deeds),
    args,
    since: '',
  };
}

const pickOf = <T>(random: Random, all: readonly T[]) => random.pick(all as readonly [T, ...T[]]);

function setupOf(random: Random): Setup {
  const some = (all: readonly Params[]) =>
    Object.assign({}, ...Array.from({ length: random.between(0, 3) }, () => pickOf(random, all))) as Params;
  const { flush_interval, ...buffer }: Params = {
    retry_wait: 0.5,
    retry_max_interval: '1s',
    ...some(BUFFER),
  };
  const isTimed = flush_interval !== undefined && buffer['flush_mode'] !== 'immediate';
  return { tail: some(TAIL), buffer: { ...buffer, ...(isTimed && { flush_interval }) } };
}

/** The other of two files. */
function swapped([what, ...words]: Deed): Deed {
  const swap = (word: string | number) =>
    typeof word === 'string'
      ? word.replace(/^(?:app|b)\.log/, (name) => (name === 'b.log' ? 'app.log' : 'b.log'))
      : word;
  return [what, ...words.map((word) => swap(word as string))] as unknown as Deed;
}

function spaced(deed: Deed, random: Random): readonly Deed[] {
  if (DESTROYS.includes(deed[0])) return [SEEN, deed];
  const less: Deed = deed[0] === 'write' ? ['write', deed[1], Math.min(deed[2], MOST_LINES)] : deed;
  return random.chance(0.4) ? [['pause', random.pick([0.05, 0.3, 1.2])], less] : [less];
}

/** Without what needs a file that is not there then. */
function possible(deeds: readonly Deed[]): readonly Deed[] {
  const there = new Set<string>();
  const open = new Set<string>();
  return deeds.filter((deed) => {
    const [what, file] = deed as readonly [string, string, unknown];
    switch (what) {
      case 'write':
      case 'write unended':
        // No path matches another file at its birth.
        return (there.has(file) || /^[^/]+\.log$/.test(file)) && there.add(file);
      case 'write on':
        return open.has(file);
      case 'open':
        return there.has(file) && open.add(file);
      case 'link':
      case 'link hard':
        return false;
      case 'rename':
      case 'compress':
      case 'remove': {
        const isThere = there.delete(file);
        if (isThere && what === 'rename') there.add(String(deed[2]));
        return isThere;
      }
      case 'copy':
        return there.has(file) && there.add(String(deed[2]));
      case 'truncate':
      case 'write anew':
      case 'set an old date':
        return there.has(file);
      default:
        return true;
    }
  });
}

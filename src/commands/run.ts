import { exitCodeOf, type Outcome } from '../core/drain/outcome.ts';
import { NodeHost } from '../node/node-host.ts';
import { onSignals } from '../node/processes/signals.ts';
import { Parent } from '../tasks/parent.ts';
import { findSubject } from '../tasks/subject.ts';
import { UsageError } from '../tasks/usage-error.ts';
import { policyOf, type RunArgs } from './options/options.ts';
import { doneFileOf, supervise } from './supervise.ts';

/** `posidle run -- fluentd …`: as fluentd's parent, the container's command. Resolves to the exit code. */
export async function runParent(args: RunArgs, command: readonly string[]): Promise<number> {
  const host = new NodeHost();
  const parent = new Parent(host, command);
  onSignals(
    (by) => {
      host.request(by);
      // A dry run ends nothing: Fluentd gets what it would get without posidle.
      if (args['dry-run']) void parent.end(by);
    },
    (signal) => void parent.forward(signal),
  );
  const doneFile = doneFileOf(args);
  if (command.length === 0) {
    throw new UsageError('no command given: posidle run [options] -- fluentd -c fluent.conf');
  }
  refuseDaemon(command);
  const policy = { ...policyOf(args), parent: true };
  const found = await findSubject(host, {
    posFiles: args['pos-file'] ?? [],
    fluentConf: args['fluent-conf'] ?? confOf(command),
    ownEnvironment: true,
  });
  try {
    return await supervise({
      host,
      args,
      found,
      doneFile,
      policy,
      start: () => parent.start(),
      codeOf: (outcome) => codeOfRun(outcome, exitCodeOf(outcome, args), parent),
    });
  } catch (error) {
    // Whatever is wrong with posidle, Fluentd gets its orderly end.
    await parent.stop(policy.stopSignal, policy.stopTimeout);
    throw error;
  }
}

const WITH_OWN_CODE: ReadonlySet<Outcome['end']> = new Set(['ended-by-itself', 'no-fluentd', 'dry-run']);

/** Where Fluentd ended by itself its own code counts, 128 + n for a signal. A dry run leaves it running until it does. */
async function codeOfRun({ end }: Outcome, code: number, parent: Parent): Promise<number> {
  if (end !== 'dry-run') await parent.finish();
  return WITH_OWN_CODE.has(end) ? await parent.ownCode() : code;
}

/** Throws where fluentd is told to become a daemon: its parent would see it end at once. */
export function refuseDaemon(command: readonly string[]): void {
  const daemon = wordsOf(command).find((word) => /^(-[qv]*d|--daemon(=|$))/.test(word));
  if (daemon === undefined) return;
  const option = daemon.startsWith('--') ? '--daemon' : '-d';
  throw new UsageError(
    `${option}: fluentd would go into the background, and posidle run is its parent: leave it out`,
  );
}

/** `-c FILE`, `-cFILE`, `--config FILE`, `--config=FILE` among fluentd's own words. */
export function confOf(command: readonly string[]): string | undefined {
  const words = wordsOf(command);
  for (const [at, word] of words.entries()) {
    if (word === '-c' || word === '--config') return words[at + 1];
    const joined = /^(?:--config=|-c(?=.))(.+)$/.exec(word)?.[1];
    if (joined !== undefined) return joined;
  }
  return undefined;
}

/** Fluentd's own words: a shell has a `-c` too. */
function wordsOf(command: readonly string[]): readonly string[] {
  const program = command.findIndex((word) => /(^|\/)(fluentd|td-agent)$/.test(word));
  return program === -1 ? [] : command.slice(program + 1);
}

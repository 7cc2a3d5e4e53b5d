import { EXIT, exitCodeOf, type Outcome } from '../core/outcome.ts';
import type { FluentdReading } from '../core/processes.ts';
import { findFluentd } from '../daemon/find-fluentd.ts';
import { type Child, startChild } from '../node/child.ts';
import { NodeHost } from '../node/node-host.ts';
import { onSignals } from '../node/signals.ts';
import { policyOf, type RunArgs } from './options.ts';
import { findSubject } from './subject.ts';
import { codeOfSignal, supervise } from './supervise.ts';
import { UsageError } from './usage-error.ts';

const NOT_FOUND = 127;
const NOT_EXECUTABLE = 126;

/** `posidle run -- fluentd …`: as fluentd's parent, the container's command. Resolves to the exit code. */
export async function runParent(
  args: RunArgs,
  command: readonly string[],
  write: (text: string) => void,
): Promise<number> {
  const host = new NodeHost();
  let child: Child | undefined;
  onSignals(
    (by) => host.request(by),
    (signal) => void (child && forward(host, child, signal)),
  );
  if (command.length === 0)
    throw new UsageError('no command given: posidle run [options] -- fluentd -c fluent.conf');
  const policy = { ...policyOf(args), parent: true };
  const fluentConf = args['fluent-conf'] ?? confOf(command);
  const found = await findSubject(host, {
    posFiles: args['pos-file'] ?? [],
    fluentConf,
    ownEnvironment: true,
  });
  try {
    child = await startChild(command);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    write(`posidle: cannot run ${command[0]}: ${code === 'ENOENT' ? 'no such command' : message}\n`);
    return code === 'ENOENT' ? NOT_FOUND : NOT_EXECUTABLE;
  }
  const { pid, ended, killGroup } = child;
  process.once('exit', killGroup);
  void ended.then(() => host.wake());
  const target = { by: 'session', leader: pid } as const;
  const codeOf = (outcome: Outcome) => codeOfRun(outcome, exitCodeOf(outcome, policy), ended);
  return supervise({ host, args, found, target, policy, codeOf });
}

/** Where Fluentd ended by itself its own code counts, 128 + n for a signal. */
async function codeOfRun(outcome: Outcome, code: number, ended: Child['ended']): Promise<number> {
  if (outcome.end !== 'ended-by-itself' && outcome.end !== 'no-fluentd') return code;
  const own = await ended;
  return own.signal === null ? (own.code ?? EXIT.bug) : codeOfSignal(own.signal);
}

/** `-c FILE`, `-cFILE`, `--config FILE`, `--config=FILE` among fluentd's own words; a shell has a `-c` too. */
export function confOf(command: readonly string[]): string | undefined {
  const program = command.findIndex((word) => /(^|\/)(fluentd|td-agent)$/.test(word));
  const words = program === -1 ? [] : command.slice(program + 1);
  for (const [at, word] of words.entries()) {
    if (word === '-c' || word === '--config') return words[at + 1];
    const joined = /^(?:--config=|-c(?=.))(.+)$/.exec(word)?.[1];
    if (joined !== undefined) return joined;
  }
  return undefined;
}

/** Looked up anew each time: SIGUSR2 (1.18 and later) puts another supervisor in the place of the child. */
async function forward(host: NodeHost, { pid }: Child, signal: NodeJS.Signals): Promise<void> {
  const fluentd = await findFluentd(host, SESSION_ONLY(pid), undefined);
  const target = supervisorOf(fluentd);
  if (target !== undefined) await host.signal(target, signal);
}

function supervisorOf(fluentd: FluentdReading) {
  return fluentd.kind === 'running' ? fluentd.supervisor : undefined;
}

const SESSION_ONLY = (leader: number) =>
  ({ fluentd: { by: 'session', leader }, conf: undefined, stopVia: 'signal' }) as const;

import { EXIT } from '../core/drain/outcome.ts';
import { writeReason } from '../node/output/termination-log.ts';
import { type Begun, beginDrain, endDrain, HookHost } from '../tasks/drain.ts';
import type { DrainArgs } from './options/options.ts';
import { watchAndReport } from './watch.ts';

const ONLY_FLUENTD = 'the Pod goes on, and only Fluentd is restarted: its buffers are flushed';

/** `posidle drain`: Fluentd's preStop hook. Resolves to the exit code. The kubelet makes an event of every code but 0. */
export async function runDrain(args: DrainArgs): Promise<number> {
  const {
    grace,
    witness,
    strict,
    'main-ended': mainEnded,
    'pos-file': posFiles,
    'fluent-conf': fluentConf,
    'complete-last-line': completeLastLine,
  } = args;
  const host = new HookHost();
  // Replaces the launcher's message "the drain was cut off", which is for a hook that is killed.
  const tell = (why: string) => writeReason(args['termination-log'], why).catch(() => undefined);
  const orTell = async (error: Error) => {
    await tell(error.message);
    throw error;
  };
  const begun = await beginDrain(host, { grace, witness, mainEnded }).catch(orTell);
  if (begun === undefined) {
    await tell(ONLY_FLUENTD);
    process.stderr.write(`posidle: ${ONLY_FLUENTD}\n`);
    return EXIT.ok;
  }
  const unused = { listen: undefined, 'quit-token': undefined };
  const drain = ({ options, drain: given }: Begun) =>
    watchAndReport(
      host,
      { ...args, ...unused },
      { posFiles, fluentConf, completeLastLine, ...options },
      given,
    );
  const outcome = await drain(begun).catch(orTell);
  const rest = await endDrain(host, begun, outcome);
  const { outcome: word } = rest === undefined ? outcome : await drain(rest);
  return word === 'drained' || (word === 'unproven' && !strict) ? EXIT.ok : EXIT.noFluentd;
}

import { EXIT } from '../core/drain/outcome.ts';
import { type Begun, beginDrain, endDrain, HookHost } from '../tasks/drain.ts';
import type { DrainArgs } from './options/drain-options.ts';
import { supervise } from './supervise.ts';

/** `posidle drain`: Fluentd's preStop hook. Resolves to the exit code; the kubelet makes an event of every other than 0. */
export async function runDrain(args: DrainArgs): Promise<number> {
  const {
    grace,
    witness,
    strict,
    'main-ended': mainEnded,
    'pos-file': posFiles,
    'fluent-conf': fluentConf,
  } = args;
  const host = new HookHost();
  const begun = await beginDrain(host, { grace, witness, mainEnded });
  if (begun === undefined) {
    process.stderr.write(
      'posidle: the Pod goes on, and only Fluentd is restarted: its buffers are flushed\n',
    );
    return EXIT.ok;
  }
  const unused = { listen: undefined, 'quit-token': undefined };
  const drain = ({ options, drain: given }: Begun) =>
    supervise(host, { ...args, ...unused }, { posFiles, fluentConf, ...options }, given);
  const outcome = await drain(begun);
  const rest = await endDrain(host, begun, outcome);
  const { outcome: word } = rest === undefined ? outcome : await drain(rest);
  return word === 'drained' || (word === 'unproven' && !strict) ? EXIT.ok : EXIT.noFluentd;
}

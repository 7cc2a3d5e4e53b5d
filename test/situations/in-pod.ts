import type { Row } from '../cluster/row.ts';
import { named, type PodSpec } from '../pods/kubernetes.ts';
import { BLIND_WAIT, type Deed, type Situation } from './situation.ts';

/** main sees Fluentd's pos file: in_tail makes it when it starts, and moves a position when the buffer has the lines. */
const PRELUDE = `pos=/var/log/fluentd/app.pos
is_read() { grep -q "^$PWD/$1\t$(printf %016x "$(stat -c %s "$1")")" $pos; }
all_is_read() { for log in *.log; do is_read "$log" || return 1; done; }
until [ -e $pos ]; do sleep 0.1; done`;

function sharePosFile(pod: PodSpec): void {
  const mount = { name: 'fluentd', mountPath: '/var/log/fluentd', readOnly: true };
  named(pod, 'main').volumeMounts?.push(mount);
}

/**
 * The situation as a Pod whose main is a shell, or undefined if it needs more than main's deeds and settings of in_tail. The rows of
 * test/cluster have buffers of each kind.
 */
export function storyOf(situation: Situation): Row | undefined {
  const { what, setup = {}, outcome = 'drained', told = '', lost = 0 } = situation;
  const script = new Script();
  const commands = situation.deeds.map((deed) => script.commandOf(deed));
  const { path, pos_file, ...tail } = setup.tail ?? {};
  const isKnown =
    Object.keys(setup).every((name) => name === 'tail') &&
    situation.witness === undefined &&
    (path ?? pos_file) === undefined;
  if (!isKnown || commands.includes(undefined)) return undefined;
  return {
    title: what,
    main: [PRELUDE, ...commands].filter((one) => one !== '').join('\n'),
    change: sharePosFile,
    lines: script.written,
    tail: Object.entries(tail)
      .map((pair) => pair.join(' '))
      .join('\n'),
    ...(outcome !== 'drained' && {
      told: {
        outcome: outcome === 'drained or told' ? /./ : new RegExp(`^${outcome}$`),
        codes: outcome === 'not-drained' ? [3] : outcome === 'drained or told' ? [0, 3] : [0],
        lost: lost === 'some' || outcome === 'drained or told' ? script.written : lost,
        message: new RegExp(told),
      },
    }),
  };
}

/** main's deeds, as commands of the shell. */
class Script {
  written = 0;

  commandOf(deed: Deed): string | undefined {
    switch (deed[0]) {
      case 'write':
        return `${this.#lines(deed[2])} >>${deed[1]}`;
      case 'write unended':
        return `${this.#lines(1)} | tr -d '\\n' >>${deed[1]}`;
      case 'rename':
        return `mv ${deed[1]} ${deed[2]}`;
      case 'copy':
        return `cp ${deed[1]} ${deed[2]}`;
      case 'truncate':
        return `: >${deed[1]}`;
      case 'remove':
        return `rm ${deed[1]}`;
      case 'link':
        return `ln -s ${deed[1]} ${deed[2]}`;
      case 'until':
        // The witness looks four times a second.
        if (deed[1] === 'all is read') return 'until all_is_read; do sleep 0.1; done; sleep 0.5';
        return deed[1] === 'a file is unfound or read' ? `sleep ${BLIND_WAIT}` : undefined;
      case 'pause':
        return `sleep ${deed[1]}`;
      default:
        return undefined;
    }
  }

  #lines(count: number): string {
    const first = this.written + 1;
    this.written += count;
    return `lines ${first} ${this.written}`;
  }
}

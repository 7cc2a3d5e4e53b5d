import type { Options } from 'yargs';
import { nonEmpty } from './coercions.ts';
import { exportOptions, inspectOptions } from './inspect-options.ts';
import { namedInErrors, parsed } from './option-parts.ts';
import { drainOptions, watchOptions } from './options.ts';

export interface Command {
  /** In yargs's syntax: `inspect [files..]`. */
  readonly words: string;
  readonly about: string;
  readonly options: Readonly<Record<string, Options>>;
  readonly positional?: readonly [name: string, meaning: string];
  readonly examples: readonly (readonly [line: string, meaning: string])[];
  /** What its exit codes mean, beside 2 (wrong options) and 1. */
  readonly exits: string;
  /** What 1 means; if missing, only a bug. */
  readonly failed?: string;
}

const CHANGE = 'How to change the manifests:';
const OUTCOMES =
  '0 drained or unproven; 3 not drained (with --strict also unproven); 4 posidle could not work:';
const WATCH_EXITS = `${OUTCOMES} no Fluentd came, or posidle may not signal Fluentd or cannot prove which process it is`;

export const COMMANDS = {
  watch: {
    words: 'watch',
    about: 'stop a Fluentd that something else started, when its work is done',
    options: watchOptions,
    exits: WATCH_EXITS,
    examples: [
      [
        '$0 watch -p /var/log/fluentd/app.pos --quiet 2m --strict',
        'stop Fluentd when nothing was read for 2 minutes; exit 3 unless all is proven',
      ],
    ],
  },
  run: {
    words: 'run',
    about: 'start Fluentd, and stop it when its work is done: posidle run -- fluentd …',
    options: watchOptions,
    exits: `${WATCH_EXITS}; if Fluentd failed by itself: its own code, or 128 + signal`,
    examples: [
      [
        '$0 run --quiet 2m -- fluentd -c /fluentd/etc/fluent.conf',
        'stop it when nothing was read for 2 minutes',
      ],
      ['$0 run --done-file /var/log/app/done -- fluentd', 'stop it when main has made this file'],
    ],
  },
  drain: {
    words: 'drain',
    about: 'drain a Fluentd with a witness now, and stop it unless the kubelet does that next',
    options: drainOptions,
    exits: `${OUTCOMES} no Fluentd with a witness came, or it had ended before`,
    examples: [
      ['$0 drain --main-ended --grace 120s', 'drain and stop it: at most 120 s'],
      ['$0 drain --main-ended --witness /run/posidle', 'where the witness was written to /run/posidle'],
    ],
  },
  inspect: {
    words: 'inspect [files..]',
    about: 'show what Fluentd has read, and what is left',
    options: inspectOptions,
    exits: '0 posidle could read all; with --max-lag or --wait, Fluentd has read it, too',
    failed: '1 it could not, or a bug: please report it',
    positional: ['files', 'POS_FILE: pos files or globs; as kubectl posidle: a Pod'],
    examples: [
      ['kubectl posidle inspect POD --follow', 'in a running Pod, by the posidle in it'],
      ['$0 inspect /var/log/fluentd/app.pos', 'a table of every file: state, lag, position, size'],
      [
        '$0 inspect -c /etc/fluent/fluent.conf --follow',
        'live, with the files that Fluentd has not found yet',
      ],
      ['$0 inspect "/var/log/fluentd/*.pos" --max-lag 1MiB', 'fail if more than 1 MiB is unread'],
      [
        '$0 inspect --root /proc/42/root /var/log/app.pos',
        'as the process 42 sees it, from a debug container',
      ],
    ],
  },
  export: {
    words: 'export [files..]',
    about: 'show Prometheus what Fluentd has read, and what is left',
    options: exportOptions,
    exits: '0 a signal ended it; 4 it could not begin',
    positional: ['files', 'POS_FILE: pos files or globs'],
    examples: [
      ['$0 export "/var/log/*.pos" --listen 0.0.0.0:8612', 'on a node, for all pos files there'],
      [
        '$0 export -c /etc/fluent/fluent.conf --per-file 20',
        'also one by one: the 20 that are furthest behind',
      ],
    ],
  },
  witness: {
    words: 'witness [dir]',
    about: 'write the witness to DIR, a volume that Fluentd mounts too, and print what the manifest needs',
    options: {},
    exits: '0 it is written',
    positional: ['dir', 'DIR: a shared volume, such as /posidle'],
    examples: [],
  },
  inject: {
    words: 'inject [files..]',
    about: 'add posidle to the Fluentd of manifests, and print them',
    options: namedInErrors({
      image: {
        ...parsed(CHANGE, nonEmpty),
        describe:
          'REF: the image posidle, as the nodes can pull it; by default posidle:VERSION, which each node must have then',
      },
      container: {
        ...parsed(CHANGE, nonEmpty),
        describe: "NAME: Fluentd's container, if it is not fluentd or emr-container-fluentd",
      },
      path: {
        ...parsed(CHANGE, nonEmpty),
        describe: 'PATH: where a document of another kind has its Pod template, such as spec.driver.template',
      },
    }),
    positional: ['files', 'FILE: manifests; - is stdin'],
    exits: '0 changed; 3 nothing was changed: the output is your manifest as it was',
    examples: [
      [
        '$0 inject --image REGISTRY/posidle:0.1.0 job.yaml >new.yaml',
        'posidle sleeps in a sidecar of its own behind the container fluentd; delete an old Job before you apply it',
      ],
      ['$0 inject --image REGISTRY/posidle:0.1.0 --container logs *.yaml', 'behind the container logs'],
    ],
  },
} as const satisfies Readonly<Record<string, Command>>;

/** What `--help` says of each command. */
import type { Argv } from 'yargs';
import { HELP_ALL } from './command-words.ts';
import { drainOptions } from './drain-options.ts';
import { optionsFromEnvironment } from './environment.ts';
import { exportOptions } from './export-options.ts';
import { injectOptions } from './inject-options.ts';
import { inspectOptions } from './inspect-options.ts';
import { runOptions, watchOptions } from './options.ts';

const { 'pos-file': posFileOption, ...otherInspectOptions } = inspectOptions;
const { 'pos-file': _, ...otherExportOptions } = exportOptions;

export const SHOW_ALL = 'Show all options';

/** yargs forgets what is set for all commands where a command has its own help. */
export function byEnvironment(example = 'POSIDLE_QUIET=30s is --quiet 30s'): string {
  return `Every option can be set by environment: ${example}.`;
}

export function runCommand(command: Argv) {
  return command
    .options(runOptions)
    .showHidden(HELP_ALL, SHOW_ALL)
    .config(optionsFromEnvironment(process.env, runOptions))
    .epilogue(byEnvironment())
    .usage('$0 run [options] -- fluentd …')
    .example('$0 run -- fluentd -c /fluentd/etc/fluent.conf', 'stop it when no log file was read for 60 s')
    .example('$0 run --done-file /var/log/app/done -- fluentd', 'stop it when main has made this file')
    .example('$0 run --quiet off -- fluentd', 'stop it when the kubelet sends SIGTERM: as a native sidecar');
}

export function watchCommand(command: Argv) {
  return command
    .options(watchOptions)
    .showHidden(HELP_ALL, SHOW_ALL)
    .config(optionsFromEnvironment(process.env, watchOptions))
    .epilogue(byEnvironment())
    .example('$0 watch -p /var/log/fluentd/app.pos', 'stop Fluentd when no log file was read for 60 s')
    .example(
      '$0 watch -p /var/log/fluentd/app.pos --quiet 30s --strict',
      'the same after 30 s; exit 3 if something was left',
    )
    .example(
      '$0 watch -p "/var/log/fluentd/*.pos" --pid-file /run/fluentd.pid',
      'several pos files; several Fluentds run, and this is the one',
    );
}

export function drainCommand(command: Argv) {
  return command
    .options(drainOptions)
    .showHidden(HELP_ALL, SHOW_ALL)
    .config(optionsFromEnvironment(process.env, drainOptions))
    .epilogue(byEnvironment('POSIDLE_GRACE=120s is --grace 120s'))
    .example('$0 drain --grace 120s', "as Fluentd's preStop hook, with the gate behind Fluentd")
    .example('docker exec fluentd posidle drain --main-ended && docker stop fluentd', 'without Kubernetes');
}

export function injectCommand(command: Argv) {
  return command
    .positional('files', { type: 'string', array: true, describe: 'FILE: manifests; - is stdin' })
    .options(injectOptions)
    .config(optionsFromEnvironment(process.env, injectOptions))
    .epilogue(byEnvironment('POSIDLE_IMAGE=REF is --image REF'))
    .example(
      '$0 inject job.yaml | kubectl apply -f -',
      'the container fluentd gets posidle as its preStop hook',
    )
    .example('$0 inject --image REGISTRY/posidle:0.1.0 *.yaml', 'with the image in your registry')
    .example('kubectl kustomize . | $0 inject - | kubectl apply -f -', 'what kustomize makes');
}

export function exportCommand(command: Argv) {
  return command
    .positional('files', { ...POS_FILES, describe: 'POS_FILE: pos files or globs' })
    .options(exportOptions)
    .config(optionsFromEnvironment(process.env, otherExportOptions))
    .epilogue(byEnvironment('POSIDLE_INTERVAL=10s is --interval 10s'))
    .example('$0 export "/var/log/*.pos" --listen 0.0.0.0:8612', 'on a node, for all pos files there')
    .example(
      '$0 export -c /etc/fluent/fluent.conf --per-file 20',
      'also one by one: the 20 that are furthest behind',
    );
}

const POS_FILES = { type: 'string', array: true } as const;

export function inspectCommand(command: Argv) {
  return command
    .positional('files', { ...POS_FILES, describe: 'POS_FILE: pos files or globs; - is stdin' })
    .options(inspectOptions)
    .config(optionsFromEnvironment(process.env, otherInspectOptions))
    .epilogue(byEnvironment('POSIDLE_SORT=file is --sort file'))
    .example('$0 inspect /var/log/fluentd/app.pos', 'a table of every file: state, lag, position, size')
    .example(
      '$0 inspect -c /etc/fluent/fluent.conf --follow',
      'live, with the files that Fluentd has not found yet',
    )
    .example(
      '$0 inspect /var/log/fluentd/app.pos --state behind,blocked --json',
      'what is not read, for a program',
    )
    .example(
      '$0 inspect "/var/log/fluentd/*.pos" --check --max-lag 1MiB',
      'exit 0 when at most that much is left',
    )
    .example(
      '$0 inspect --root /proc/42/root /var/log/app.pos',
      'as the process 42 sees it, from a debug container',
    )
    .example('kubectl exec POD -- cat /pos/app.pos | $0 inspect - --raw', 'a pos file from another machine');
}

/** The words behind `--`. */
export function behindDashes(args: { readonly [option: string]: unknown }): readonly string[] {
  return ((args['--'] as unknown[] | undefined) ?? []).map(String);
}

interface Named {
  readonly files?: readonly string[] | undefined;
  readonly 'pos-file'?: readonly string[] | undefined;
}

export function posFilesOf(args: Named, stdin: readonly string[] = []): string[] {
  const named = [...(args.files ?? []), ...behindDashes({ ...args }), ...(args['pos-file'] ?? []), ...stdin];
  return named.length > 0 ? named : posFilesOfEnvironment();
}

/** They count only where none is named: yargs would leave them beside one that is named without `-p`. */
function posFilesOfEnvironment(): string[] {
  const found = optionsFromEnvironment(process.env, { 'pos-file': posFileOption });
  return (found['pos-file'] as string[] | undefined) ?? [];
}

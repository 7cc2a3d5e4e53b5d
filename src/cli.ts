#!/usr/bin/env node
import yargs, { type Argv } from 'yargs';
import { keepHeapSmall } from './commands/heap.ts';
import { asOptions, completionIn, HELP_ALL } from './commands/options/command-words.ts';
import { optionsFromEnvironment } from './commands/options/environment.ts';
import { exportOptions } from './commands/options/export-options.ts';
import { inFlags } from './commands/options/flag-wording.ts';
import { inspectOptions } from './commands/options/inspect-options.ts';
import { mistakeIn } from './commands/options/mistakes.ts';
import { runOptions, watchOptions } from './commands/options/options.ts';
import { EXIT } from './core/drain/outcome.ts';
import { printable } from './core/text/printable.ts';
import { CommandError, UsageError } from './tasks/usage-error.ts';

/** Put in by docker/bundle.mjs. */
declare const BUILD: { readonly version: string; readonly bugs?: string };

const { 'pos-file': posFileOption, ...otherInspectOptions } = inspectOptions;
const { 'pos-file': _, ...otherExportOptions } = exportOptions;

process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  // The reader has seen enough (`inspect | head -1`). The exit code stays what it is.
  if (error.code === 'EPIPE') process.exit();
  fail(`cannot write to stdout: ${error.message}`, EXIT.bug);
});

// No await at the top level: the command is built as CommonJS, which has none.
async function main(): Promise<void> {
  const given = process.argv.slice(2);
  const words = asOptions(given);
  if (words.join() === '--version') return void process.stdout.write(`${BUILD.version}\n`);
  // A container without arguments must not look as if it had done its work.
  if (words.length === 0) process.exitCode = EXIT.usage;
  try {
    const script = completionIn(given);
    if (script !== undefined) process.stdout.write(script);
    else await parser(words.length === 0 ? ['--help'] : words).parseAsync();
  } catch (error) {
    if (error instanceof UsageError) fail(inFlags(error.message), EXIT.usage);
    if (error instanceof CommandError) fail(error.message, error.code);
    fail(reportOf(error), EXIT.bug);
  }
  // A pipe takes what is written in its own time: end only when it has.
  process.stdout.write('', () => process.exit());
}

/** Each command loads its own part of the program when it runs: `--help` needs none of them. */
function parser(words: readonly string[]): Argv {
  return yargs(words)
    .scriptName('posidle')
    .version(BUILD.version)
    .locale('en')
    .usage('Stops a Fluentd sidecar when, and only when, its work is done.')
    .command(
      'watch',
      'stop a Fluentd that something else started, when its work is done',
      watchCommand,
      async (args) => {
        const { runWatch } = await import('./commands/watch.ts');
        keepHeapSmall();
        process.exitCode = await runWatch(args);
      },
    )
    .command(
      'run',
      'start Fluentd, and stop it when its work is done: posidle run -- fluentd …',
      runCommand,
      async (args) => {
        const { runParent } = await import('./commands/run.ts');
        keepHeapSmall();
        process.exitCode = await runParent(args, behindDashes(args));
      },
    )
    .command(
      'inspect [files..]',
      'show what Fluentd has read, and what is left',
      inspectCommand,
      async (args) => {
        // yargs drops a lone `-`.
        const stdin = words.includes('-') ? ['-'] : [];
        const { runInspect } = await import('./commands/inspect.ts');
        process.exitCode = await runInspect({ ...args, 'pos-file': posFilesOf(args, stdin) });
      },
    )
    .command(
      'export [files..]',
      'tell Prometheus what Fluentd has read, and what is left',
      exportCommand,
      async (args) => {
        const { runExport } = await import('./commands/export.ts');
        keepHeapSmall();
        process.exitCode = await runExport({ ...args, 'pos-file': posFilesOf(args) });
      },
    )
    .command(
      'witness <dir>',
      'write the witness to DIR, a volume that Fluentd mounts too, and print what its manifest needs',
      (command) =>
        command.positional('dir', { type: 'string', demandOption: true, describe: 'DIR: a shared volume' }),
      async ({ dir }) => {
        const { runWitness } = await import('./commands/witness.ts');
        await runWitness(dir, (text) => process.stdout.write(text));
      },
    )
    .completion('completion', 'print a script for bash, zsh or fish that completes commands and options')
    .demandCommand(1)
    .parserConfiguration({ 'populate--': true })
    .strict()
    .help()
    .alias('help', 'h')
    .showHidden(HELP_ALL, SHOW_ALL)
    .wrap(Math.min(110, Number(process.env.COLUMNS) || process.stdout.columns || 80))
    .fail((message, error) => {
      // yargs wraps what a coercion throws, and reports its own findings, as YError.
      if (error !== undefined && error !== null && error.name !== 'YError') throw error;
      throw new UsageError(mistakeIn(message ?? error?.message, words));
    })
    .exitProcess(false)
    .epilogue(byEnvironment());
}

const SHOW_ALL = 'Show all options';

/** yargs forgets what is set for all commands where a command has its own help. */
function byEnvironment(example = 'POSIDLE_QUIET=30s is --quiet 30s'): string {
  return `Every option can be set by environment: ${example}.`;
}

/** The words behind `--`. */
function behindDashes(args: { readonly [option: string]: unknown }): readonly string[] {
  return ((args['--'] as unknown[] | undefined) ?? []).map(String);
}

interface Named {
  readonly files?: readonly string[] | undefined;
  readonly 'pos-file'?: readonly string[] | undefined;
}

function posFilesOf(args: Named, stdin: readonly string[] = []): string[] {
  const named = [...(args.files ?? []), ...behindDashes({ ...args }), ...(args['pos-file'] ?? []), ...stdin];
  return named.length > 0 ? named : posFilesOfEnvironment();
}

/** They count only where none is named: yargs would leave them beside one that is named without `-p`. */
function posFilesOfEnvironment(): string[] {
  const found = optionsFromEnvironment(process.env, { 'pos-file': posFileOption });
  return (found['pos-file'] as string[] | undefined) ?? [];
}

function runCommand(command: Argv) {
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

function watchCommand(command: Argv) {
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
    )
    .example('$0 watch -p /var/log/fluentd/app.pos --dry-run', 'only log when it would stop Fluentd');
}

function exportCommand(command: Argv) {
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

function inspectCommand(command: Argv) {
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

function reportOf(error: unknown): string {
  const { stack = String(error) } = error as Partial<Error>;
  const where = BUILD.bugs ?? 'CONTRIBUTING.md says where';
  return `${stack}\nThis is a bug of posidle ${BUILD.version} (Node ${process.versions.node}). Please report these lines: ${where}`;
}

function fail(message: string, code: number): never {
  process.stderr.write(`posidle: ${message.split('\n').map(printable).join('\n')}\n`);
  process.exit(code);
}

// Last: what it uses is defined by now.
void main();

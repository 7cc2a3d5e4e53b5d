#!/usr/bin/env node
import yargs, { type Argv } from 'yargs';
import { BUGS, VERSION } from './commands/build-info.ts';
import { keepHeapSmall } from './commands/heap.ts';
import { asOptions, completionIn, HELP_ALL } from './commands/options/command-words.ts';
import { inFlags } from './commands/options/flag-wording.ts';
import { mistakeIn } from './commands/options/mistakes.ts';
import {
  behindDashes,
  byEnvironment,
  drainCommand,
  exportCommand,
  injectCommand,
  inspectCommand,
  posFilesOf,
  runCommand,
  SHOW_ALL,
  watchCommand,
} from './commands/options/usage.ts';
import { EXIT } from './core/drain/outcome.ts';
import { printable } from './core/text/printable.ts';
import { CommandError, UsageError } from './tasks/usage-error.ts';

process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  // The reader has seen enough (`inspect | head -1`). The exit code stays what it is.
  if (error.code === 'EPIPE') process.exit();
  fail(`cannot write to stdout: ${error.message}`, EXIT.bug);
});

// No await at the top level: the command is built as CommonJS, which has none.
async function main(): Promise<void> {
  const given = process.argv.slice(2);
  const words = asOptions(given);
  if (words.join() === '--version') return void process.stdout.write(`${VERSION}\n`);
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
    .version(VERSION)
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
      'drain',
      'drain Fluentd and stop it, in its own container: as its preStop hook',
      drainCommand,
      async (args) => {
        const { runDrain } = await import('./commands/drain.ts');
        keepHeapSmall();
        process.exitCode = await runDrain(args);
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
    .command(
      'inject [files..]',
      'add posidle to the Fluentd of manifests: posidle inject job.yaml | kubectl apply -f -',
      injectCommand,
      async ({ files = [], image = `posidle:${VERSION}` }) => {
        // yargs drops a lone `-`.
        const named = [...files, ...(words.includes('-') ? ['-'] : [])];
        if (named.length === 0)
          throw new UsageError('inject: the file is missing. Use posidle inject FILE, or - for stdin');
        const { runInject } = await import('./commands/inject.ts');
        await runInject(named, image, {
          print: (text) => process.stdout.write(text),
          tell: (line) => process.stderr.write(`${printable(line)}\n`),
        });
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

function reportOf(error: unknown): string {
  const { stack = String(error) } = error as Partial<Error>;
  const where = BUGS ?? 'CONTRIBUTING.md says where';
  return `${stack}\nThis is a bug of posidle ${VERSION} (Node ${process.versions.node}). Please report these lines: ${where}`;
}

function fail(message: string, code: number): never {
  process.stderr.write(`posidle: ${message.split('\n').map(printable).join('\n')}\n`);
  process.exit(code);
}

// Last: what it uses is defined by now.
void main();

#!/usr/bin/env node
import { basename } from 'node:path';
import yargs, { type Argv, type FallbackCompletionFunction } from 'yargs';
import { BUGS, VERSION } from './commands/build-info.ts';
import type { InjectOptions } from './commands/inject.ts';
import { COMMANDS, type Command } from './commands/options/commands.ts';
import { optionsFromEnvironment, unknownVariables, variableOf } from './commands/options/environment.ts';
import type { ExportArgs, InspectArgs } from './commands/options/inspect-options.ts';
import { COMPLETION, mistakeIn } from './commands/options/mistakes.ts';
import type { DrainArgs, WatchArgs } from './commands/options/options.ts';
import { EXIT } from './core/drain/outcome.ts';
import { printable } from './core/text/printable.ts';
import { endIfStuck } from './node/processes/end.ts';
import { CommandError, UsageError } from './tasks/usage-error.ts';

const BY_ENVIRONMENT =
  'Every option can be set by environment: --some-option X by POSIDLE_SOME_OPTION=X, a switch by true. The option itself wins. Lists are separated by commas. Durations: 500ms, 30s, 5m, 1h. Sizes: 64KiB, 10MB.';
const BUG = '1 stdout cannot be written, or a bug: please report it';
const exitCodes = ({ exits, failed = BUG }: Pick<Command, 'exits' | 'failed'>) =>
  `Exit codes: ${exits}; ${failed}; 2 wrong options or configuration.`;

/** yargs gives an option of one letter two dashes. */
const withoutLetters: FallbackCompletionFunction = (_current, _args, byDefault, done) =>
  byDefault((_, words = []) => done(words.filter((word) => !/^--[a-z](:|$)/.test(word))));

const HELP = ['--help', '-h'];

process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  // The reader closed the pipe (`inspect | head -1`). Keep the exit code.
  if (error.code === 'EPIPE') process.exit();
  tell(`cannot write to stdout: ${error.message}`);
  process.exit(EXIT.bug);
});

// The bundle is CommonJS, which has no top-level await.
async function main(): Promise<void> {
  const given = process.argv.slice(2);
  // A container that got no arguments must not look successful.
  if (given.length === 0) process.exitCode = EXIT.usage;
  try {
    // yargs prints the script even then.
    const isHelp = given[0] === COMPLETION && given.some((word) => HELP.includes(word));
    await parser(given.length === 0 || isHelp ? ['--help'] : given).parseAsync();
  } catch (error) {
    const [message, code] = toldOf(error);
    // Where nobody takes the message the exit code still counts.
    process.stderr.on('error', () => {});
    tell(message);
    await endIfStuck();
    process.exit(code);
  }
  endFlushed();
}

/**
 * Writes to a pipe may be asynchronous: exits only when stdout is flushed. Even an empty write fails on a full disk. A failure of a write to a
 * file is told a turn later.
 */
function endFlushed(): void {
  const end = () => void setImmediate(() => endIfStuck().then(() => process.exit()));
  if (process.stdout.writableLength === 0) end();
  else process.stdout.write('', end);
}

/** kubectl runs `kubectl posidle` under this name. */
const IS_PLUGIN = basename(process.argv[1] ?? '') === 'kubectl-posidle';

/** Each command loads its modules only when it runs, so that `--help` stays fast. */
const RUN: Readonly<Record<keyof typeof COMMANDS, (args: never) => Promise<number>>> = {
  watch: async (args: WatchArgs) => (await import('./commands/watch.ts')).runWatch(args),
  run: async (args: WatchArgs & Words) =>
    (await import('./commands/watch.ts')).runParent(args, behindDashes(args)),
  drain: async (args: DrainArgs) => (await import('./commands/drain.ts')).runDrain(args),
  inspect: async (args: InspectArgs & Words) => {
    warnOfVariables();
    if (IS_PLUGIN) return (await import('./commands/inspect-pod.ts')).runInPod(args.files, args);
    if ((args.namespace ?? args.context) !== undefined)
      throw new UsageError('--namespace and --context need a Pod: kubectl posidle inspect POD');
    if (args.follow || args.wait !== undefined) endAtSignal();
    return (await import('./commands/inspect.ts')).runInspect({ ...args, 'pos-file': posFilesOf(args) });
  },
  export: async (args: ExportArgs & Words) => {
    endAtSignal();
    return (await import('./commands/export.ts')).runExport({ ...args, 'pos-file': posFilesOf(args) });
  },
  witness: async ({ dir }: { dir?: string }) => (await import('./commands/witness.ts')).runWitness(dir),
  inject: async ({ files, ...options }: Words & InjectOptions) => {
    warnOfVariables();
    return (await import('./commands/inject.ts')).runInject(files, options);
  },
};

/** The other commands log them. */
function warnOfVariables(): void {
  for (const warning of unknownVariables(process.env)) tell(warning);
}

interface Words {
  readonly files: readonly string[];
  readonly '--'?: readonly unknown[];
}

function behindDashes(args: Words): readonly string[] {
  return (args['--'] ?? []).map(String);
}

/** The environment counts only if the command line names no pos file. */
function posFilesOf(args: Words & { readonly 'pos-file'?: readonly string[] | undefined }): string[] {
  const named = [...args.files, ...behindDashes(args), ...(args['pos-file'] ?? [])];
  return named.length > 0 ? named : ((process.env[variableOf('pos-file')] || undefined)?.split(',') ?? []);
}

function parser(words: readonly string[]): Argv {
  const program = yargs(words);
  for (const [name, command] of Object.entries<Command>(COMMANDS))
    program.command(
      command.words,
      command.about,
      (built) => withOptions(built, command),
      async (args) => {
        // yargs drops a lone `-`.
        const files = [
          ...((args['files'] as string[] | undefined) ?? []),
          ...words.filter((word) => word === '-'),
        ];
        const run = RUN[name as keyof typeof COMMANDS];
        process.exitCode = await run({ ...args, files } as never);
      },
    );
  return program
    .scriptName('posidle')
    .version(VERSION)
    .completion(COMPLETION, 'print a script for bash or zsh: posidle completion >>~/.bashrc', withoutLetters)
    .locale('en')
    .usage('Waits until a Fluentd sidecar has read and sent every line, lets it end, and says what is left.')
    .demandCommand(1)
    .parserConfiguration({ 'populate--': true })
    .strict()
    .help()
    .alias('help', 'h')
    .wrap(Math.min(110, Number(process.env.COLUMNS) || process.stdout.columns || 80))
    .fail((message, error) => {
      // yargs wraps an error of a coercion, and its own messages, in a YError.
      if (error !== undefined && error !== null && error.name !== 'YError') throw error;
      throw new UsageError(mistakeIn(message ?? error?.message, words));
    })
    .exitProcess(false)
    .epilogue(`${BY_ENVIRONMENT}\n${exitCodes({ exits: "see each command's --help" })}`);
}

function withOptions(built: Argv, command: Command): Argv {
  const { words, options, positional, examples } = command;
  const { 'pos-file': _, ...others } = options;
  built
    .options(options)
    .config(optionsFromEnvironment(process.env, positional === undefined ? options : others));
  // Again, because yargs drops it in a command's own help.
  if (Object.keys(options).length > 0) built.epilogue(BY_ENVIRONMENT);
  built.epilogue(exitCodes(command));
  if (positional !== undefined) {
    const [name, describe] = positional;
    built.positional(name, { type: 'string', array: words.includes('..'), describe });
  }
  if (words === 'run') built.usage('$0 run [options] -- fluentd …');
  for (const [line, meaning] of examples) built.example(line, meaning);
  return built;
}

/** Ends after stdout is flushed; a second signal ends at once. A PID 1 without signal handlers would ignore both. */
function endAtSignal(): void {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, endFlushed);
}

function toldOf(error: unknown): readonly [message: string, code: number] {
  if (error instanceof CommandError) return [error.message, error.code];
  const { stack = String(error) } = error as Partial<Error>;
  const where = BUGS ?? 'CONTRIBUTING.md says where';
  const ask = `This is a bug of posidle ${VERSION} (Node ${process.versions.node}). Please report these lines: ${where}`;
  return [`${stack}\n${ask}`, EXIT.bug];
}

function tell(message: string): void {
  process.stderr.write(`posidle: ${message.split('\n').map(printable).join('\n')}\n`);
}

// Last, because `main` uses the constants above.
void main();

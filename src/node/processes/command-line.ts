import { parseArgs } from 'node:util';

/** The options that posidle needs (`lib/fluent/command/fluentd.rb`), and all short ones that take a value: it may look like further options. */
const OPTIONS = {
  config: { type: 'string', short: 'c' },
  'config-file-type': { type: 'string' },
  /** Fluentd appends it to a configuration in the v1 syntax. */
  'inline-config': { type: 'string', short: 'i' },
  workers: { type: 'string' },
  /** The pid file of a Fluentd that goes into the background. */
  daemon: { type: 'string', short: 'd' },
  plugin: { type: 'string', short: 'p' },
  I: { type: 'string', short: 'I' },
  r: { type: 'string', short: 'r' },
  log: { type: 'string', short: 'o' },
  gemfile: { type: 'string', short: 'g' },
  'gem-path': { type: 'string', short: 'G' },
} as const;

/** The values of Fluentd's options, as they stand on its command line. */
export type FluentdArguments = { readonly [Name in keyof typeof OPTIONS]?: string | undefined };

/** `command`: Fluentd's command line, or that of a wrapper. It does not know abbreviated option names, which Ruby accepts. */
export function fluentdArguments(command: readonly string[]): FluentdArguments {
  // Only the words after Fluentd's name, because a shell before it may have its own `-c`.
  const program = command.findIndex((word) => /(^|\/)(fluentd|td-agent)$/.test(word));
  const args = program === -1 ? [] : command.slice(program + 1);
  const { values } = parseArgs({ args, options: OPTIONS, strict: false, allowPositionals: true });
  // An option without its value is true.
  return Object.fromEntries(Object.entries(values).filter(([, value]) => typeof value === 'string'));
}

import { parseArgs } from 'node:util';

/** The arguments of a Fluentd that posidle needs (`lib/fluent/command/fluentd.rb`). */
export interface FluentdArguments {
  readonly configFile?: string | undefined;
  readonly configFileType?: string | undefined;
  /** Fluentd appends it to a configuration in the v1 syntax. */
  readonly inlineConfig?: string | undefined;
  readonly workers?: number | undefined;
  /** The pid file of a Fluentd that goes into the background. */
  readonly daemon?: string | undefined;
}

/** The needed options, and all short ones that take a value: the value may look like further options. */
const OPTIONS = {
  config: { type: 'string', short: 'c' },
  'config-file-type': { type: 'string' },
  'inline-config': { type: 'string', short: 'i' },
  workers: { type: 'string' },
  daemon: { type: 'string', short: 'd' },
  plugin: { type: 'string', short: 'p' },
  I: { type: 'string', short: 'I' },
  r: { type: 'string', short: 'r' },
  log: { type: 'string', short: 'o' },
  gemfile: { type: 'string', short: 'g' },
  'gem-path': { type: 'string', short: 'G' },
} as const;

/** `command`: Fluentd's command line, or that of a wrapper. It does not know abbreviated option names, which Ruby accepts. */
export function fluentdArguments(command: readonly string[]): FluentdArguments {
  const args = wordsOf(command);
  const { values } = parseArgs({ args, options: OPTIONS, strict: false, allowPositionals: true });
  const text = (name: keyof typeof OPTIONS) => {
    const value = values[name];
    return typeof value === 'string' ? value : undefined;
  };
  const workers = text('workers');
  return {
    configFile: text('config'),
    configFileType: text('config-file-type'),
    inlineConfig: text('inline-config'),
    workers: workers === undefined ? undefined : Number.parseInt(workers, 10) || 0,
    daemon: text('daemon'),
  };
}

/** Only the words after Fluentd's name, because a shell before it may have its own `-c`. */
function wordsOf(command: readonly string[]): string[] {
  const program = command.findIndex((word) => /(^|\/)(fluentd|td-agent)$/.test(word));
  return program === -1 ? [] : command.slice(program + 1);
}

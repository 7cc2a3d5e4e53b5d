import { parseArgs } from 'node:util';

/** What a Fluentd's own command line says that matters here (`lib/fluent/command/fluentd.rb`). */
export interface FluentdArguments {
  readonly configFile?: string | undefined;
  readonly configFileType?: string | undefined;
  /** It is appended to a configuration in the v1 syntax. */
  readonly inlineConfig?: string | undefined;
  readonly workers?: number | undefined;
  /** The pid file of a Fluentd that goes into the background. */
  readonly daemon?: string | undefined;
}

/** Besides those that matter, the letters that take a value: it may look like further letters. */
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

/** `command` is a Fluentd's, or that of a wrapper which starts one. Ruby would also take the beginning of an option's name. */
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

/** A shell has a `-c` too: only what follows Fluentd's name is its own. */
function wordsOf(command: readonly string[]): string[] {
  const program = command.findIndex((word) => /(^|\/)(fluentd|td-agent)$/.test(word));
  return program === -1 ? [] : command.slice(program + 1);
}

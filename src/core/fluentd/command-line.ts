/** What a Fluentd's own command line says that matters here (`lib/fluent/command/fluentd.rb`). */
export interface FluentdArguments {
  readonly configFile?: string | undefined;
  readonly configFileType?: string | undefined;
  /** It is appended to a configuration in the v1 syntax. */
  readonly inlineConfig?: string | undefined;
  readonly useV0: boolean;
  readonly workers?: number | undefined;
  readonly withoutSource: boolean;
  readonly withSourceOnly: boolean;
  readonly noSupervisor: boolean;
  /** The pid file of a Fluentd that goes into the background. */
  readonly daemon?: string | undefined;
}

const LETTERS: Readonly<Record<string, string>> = {
  c: 'config',
  d: 'daemon',
  g: 'gemfile',
  G: 'gem-path',
  i: 'inline-config',
  I: 'I',
  o: 'log',
  p: 'plugin',
  q: 'quiet',
  r: 'r',
  s: 'setup',
  v: 'verbose',
};
const WITH_VALUE = setOf(
  'config show-plugin-config plugin I r daemon workers user group umask log log-rotate-age log-rotate-size ' +
    'inline-config emit-error-log-interval config-file-type gemfile gem-path conf-encoding',
);
/** A word that follows is theirs unless it begins with a dash. */
const WITH_OPTIONAL_VALUE = setOf('setup suppress-repeated-stacktrace');
const WITHOUT_VALUE = setOf(
  'dry-run under-supervisor no-supervisor log-event-verbose without-source with-source-only use-v1-config ' +
    'use-v0-config strict-config-value enable-input-metrics disable-input-metrics enable-size-metrics verbose quiet ' +
    'suppress-config-dump disable-shared-socket',
);
const LONG_NAMES = [...WITH_VALUE, ...WITH_OPTIONAL_VALUE, ...WITHOUT_VALUE].filter(
  (name) => name.length > 1,
);
/** These shape the configuration that Fluentd reads, beside the file. */
const SHAPING = setOf('inline-config plugin I r use-v0-config config-file-type conf-encoding');

/** `command` is a Fluentd's, or that of a wrapper which starts one. */
export function fluentdArguments(command: readonly string[]): FluentdArguments {
  const options = optionsIn(command);
  // Of several the last one counts.
  const last = (...names: string[]) => options.findLast(({ name }) => names.includes(name));
  const workers = last('workers')?.value;
  return {
    configFile: last('config')?.value,
    configFileType: last('config-file-type')?.value,
    inlineConfig: last('inline-config')?.value,
    useV0: last('use-v0-config', 'use-v1-config')?.name === 'use-v0-config',
    workers: workers === undefined ? undefined : Number.parseInt(workers, 10) || 0,
    withoutSource: last('without-source') !== undefined,
    withSourceOnly: last('with-source-only') !== undefined,
    noSupervisor: last('no-supervisor') !== undefined,
    daemon: last('daemon')?.value,
  };
}

/** The command with a text added to its inline configuration; undefined where it hands no arguments to a Fluentd that can be seen. */
export function withInlineConfig(command: readonly string[], text: string): readonly string[] | undefined {
  const program = programIn(command);
  if (program === -1 || command.includes('--', program)) return undefined;
  const { inlineConfig } = fluentdArguments(command);
  // Of several the last one counts.
  return [...command, '-i', inlineConfig === undefined ? text : `${inlineConfig}\n${text}`];
}

/** The arguments that a dry run of the same Fluentd needs, beside the file. */
export function shapingArguments(command: readonly string[]): readonly string[] {
  return optionsIn(command)
    .filter(({ name }) => SHAPING.has(name))
    .map(({ name, value }) =>
      name.length === 1 ? `-${name}${value}` : `--${name}${value === '' ? '' : `=${value}`}`,
    );
}

interface Option {
  readonly name: string;
  /** Empty: it has none. */
  readonly value: string;
}

/** As Ruby's OptionParser reads them, with joined letters (`-vqc FILE`) and abbreviations (`--inl TEXT`). */
function optionsIn(command: readonly string[]): readonly Option[] {
  const words = wordsOf(command);
  const options: Option[] = [];
  for (let word = words.shift(); word !== undefined && word !== '--'; word = words.shift()) {
    const [, long, assigned] = /^--([^=]*)(?:=(.*))?$/s.exec(word) ?? [];
    const [, letter = '', rest] = /^-([^-])(.+)?$/s.exec(word) ?? [];
    const name = LETTERS[letter] ?? nameOf(long?.replaceAll('_', '-').toLowerCase() ?? letter);
    if (name === undefined) continue;
    const isAlone = WITHOUT_VALUE.has(name);
    const takesNext = WITH_VALUE.has(name) || (!isAlone && !words[0]?.startsWith('-'));
    const value = isAlone ? '' : (assigned ?? rest ?? (takesNext ? words.shift() : ''));
    options.push({ name, value: value ?? '' });
    if (isAlone && rest !== undefined) words.unshift(`-${rest.replace(/^-+/, '')}`);
  }
  return options;
}

/** A shell has a `-c` too: only what follows Fluentd's name is its own. */
function wordsOf(command: readonly string[]): string[] {
  const program = programIn(command);
  return program === -1 ? [] : command.slice(program + 1);
}

function programIn(command: readonly string[]): number {
  return command.findIndex((word) => /(^|\/)(fluentd|td-agent)$/.test(word));
}

/** An option's whole name, or one whose parts are cut short where no other fits (`complete` in Ruby's optparse.rb). */
function nameOf(text: string): string | undefined {
  if (LONG_NAMES.includes(text)) return text;
  const parts = text.split('-');
  const fitting = LONG_NAMES.filter((name) => {
    const own = name.split('-');
    return text !== '' && parts.every((part, at) => own[at]?.startsWith(part));
  });
  const [shortest = '', ...others] = fitting.toSorted((a, b) => a.length - b.length);
  return shortest !== '' && others.every((name) => name.startsWith(shortest)) ? shortest : undefined;
}

function setOf(names: string): ReadonlySet<string> {
  return new Set(names.split(' '));
}

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

type Taken = 'value' | 'optional value' | 'nothing';

/** `name`, or `name=letter`, by what it takes. A word that follows is an optional value unless it begins with a dash. */
const OPTIONS: readonly (readonly [Taken, string])[] = [
  [
    'value',
    'config=c show-plugin-config plugin=p I=I r=r daemon=d workers user group umask log=o log-rotate-age log-rotate-size ' +
      'inline-config=i emit-error-log-interval config-file-type gemfile=g gem-path=G conf-encoding',
  ],
  ['optional value', 'setup=s suppress-repeated-stacktrace'],
  [
    'nothing',
    'dry-run under-supervisor no-supervisor log-event-verbose without-source with-source-only use-v1-config ' +
      'use-v0-config strict-config-value enable-input-metrics disable-input-metrics enable-size-metrics verbose=v quiet=q ' +
      'suppress-config-dump disable-shared-socket',
  ],
];
const rows = OPTIONS.flatMap(([taken, names]) =>
  names.split(' ').map((written) => {
    const [name = '', letter = ''] = written.split('=');
    return { name, letter, taken };
  }),
);
const TAKEN: ReadonlyMap<string, Taken> = new Map(rows.map(({ name, taken }) => [name, taken]));
const LETTERS: ReadonlyMap<string, string> = new Map(rows.map(({ name, letter }) => [letter, name]));
const LONG_NAMES = [...TAKEN.keys()].filter((name) => name.length > 1);

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
    const name =
      (letter && LETTERS.get(letter)) || nameOf(long?.replaceAll('_', '-').toLowerCase() ?? letter);
    if (name === undefined) continue;
    const taken = TAKEN.get(name);
    const isAlone = taken === 'nothing';
    const takesNext = taken === 'value' || (!isAlone && !words[0]?.startsWith('-'));
    const value = isAlone ? '' : (assigned ?? rest ?? (takesNext ? words.shift() : ''));
    options.push({ name, value: value ?? '' });
    if (isAlone && rest !== undefined) words.unshift(`-${rest.replace(/^-+/, '')}`);
  }
  return options;
}

/** A shell has a `-c` too: only what follows Fluentd's name is its own. */
function wordsOf(command: readonly string[]): string[] {
  const program = command.findIndex((word) => /(^|\/)(fluentd|td-agent)$/.test(word));
  return program === -1 ? [] : command.slice(program + 1);
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

/** The configuration that a command gives its fluentd: `-c FILE`, `-cFILE`, `--config FILE`, `--config=FILE`. */
export function confNamedBy(command: readonly string[]): string | undefined {
  const words = wordsOf(command);
  for (const [at, word] of words.entries()) {
    if (word === '-c' || word === '--config') return words[at + 1];
    const joined = /^(?:--config=|-c(?=.))(.+)$/.exec(word)?.[1];
    if (joined !== undefined) return joined;
  }
  return undefined;
}

/** The option by which a command tells its fluentd to go into the background. */
export function daemonOption(command: readonly string[]): string | undefined {
  const daemon = wordsOf(command).find((word) => /^(-[qv]*d|--daemon(=|$))/.test(word));
  return daemon?.replace(/^(--daemon|-).*$/, (_, option) => (option === '-' ? '-d' : option));
}

/** Fluentd's own words: a shell has a `-c` too. */
function wordsOf(command: readonly string[]): readonly string[] {
  const program = command.findIndex((word) => /(^|\/)(fluentd|td-agent)$/.test(word));
  return program === -1 ? [] : command.slice(program + 1);
}

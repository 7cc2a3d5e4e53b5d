/** A mistake in the options or the configuration. The message names the option, the mistake and the remedy. Exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** posidle cannot run a command. The exit code is the shell's, or one of EXIT. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
  readonly code: number;

  constructor(message: string, code: number) {
    super(message);
    this.code = code;
  }
}

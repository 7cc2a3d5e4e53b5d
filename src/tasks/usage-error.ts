/** A mistake in the command line or configuration: one line that names the option, what was wrong and what is right; exit 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** A command that cannot be started; the exit code is the shell's for it. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
  readonly code: number;

  constructor(message: string, code: number) {
    super(message);
    this.code = code;
  }
}

import { EXIT } from '../core/drain/outcome.ts';

/** posidle cannot run a command. The exit code is the shell's, or one of EXIT. */
export class CommandError extends Error {
  readonly code: number;

  constructor(message: string, code: number) {
    super(message);
    this.code = code;
  }
}

/** A mistake in the options or the configuration. The message names the option, the mistake and the remedy. */
export class UsageError extends CommandError {
  constructor(message: string) {
    super(message, EXIT.usage);
  }
}

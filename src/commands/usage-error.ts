/** The user's to mend: one line that names the option, what was wrong and what is right; exit 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

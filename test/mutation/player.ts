/** The export of a bundle of tests with one mutant: the reason why it fails, or undefined if it passes. */
type Verdict = (...stages: readonly string[]) => Promise<string | undefined>;

export interface Order {
  /** The path of the bundle. */
  readonly url: string;
  readonly stages: readonly string[];
}

/** Plays one bundle after the other: loading vitest and starting Node takes longer than most tests. */
process.on('message', async ({ url, stages }: Order) => {
  process.send?.({ why: await verdictOf(url, stages) });
});

async function verdictOf(url: string, stages: readonly string[]): Promise<string | undefined> {
  try {
    const { verdict }: { readonly verdict: Verdict } = await import(url);
    return await verdict(...stages);
  } catch {
    return 'it does not load';
  }
}

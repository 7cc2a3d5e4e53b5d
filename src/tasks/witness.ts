import { rubyOption } from '../core/witness/load.ts';
import { writeOwnWitness, writeWitness } from '../node/witness/write-witness.ts';

export interface LoadedWitness {
  readonly dir: string;
  /** The environment for Fluentd. */
  readonly env: NodeJS.ProcessEnv;
}

/** Writes the witness for a Fluentd that is about to start, to a directory of its own where none is given. A RUBYOPT that is there is kept. */
export async function loadedWitness(
  given: string | undefined,
  env: NodeJS.ProcessEnv,
): Promise<LoadedWitness> {
  const dir = given ?? (await writeOwnWitness());
  if (given !== undefined) await writeWitness(given);
  const { RUBYOPT: before } = env;
  const rubyopt = before === undefined ? rubyOption(dir) : `${rubyOption(dir)} ${before}`;
  return { dir, env: { ...env, RUBYOPT: rubyopt, POSIDLE_DIR: dir } };
}

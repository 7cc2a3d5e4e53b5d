import { rubyOption } from '../core/witness/load.ts';
import { inWords } from '../node/files/in-words.ts';
import { writeWitness } from '../node/witness/write-witness.ts';
import { UsageError } from '../tasks/usage-error.ts';

/** `posidle witness DIR`: writes the witness there, and prints what Fluentd's container needs. */
export async function runWitness(dir: string, print: (text: string) => void): Promise<void> {
  try {
    await writeWitness(dir);
  } catch (error) {
    throw new UsageError(
      `witness: cannot write to ${dir || "''"}: ${inWords(error as NodeJS.ErrnoException)}`,
    );
  }
  print(`# Fluentd's container loads the witness with these lines, and its Pod has the volume:
env: [{ name: RUBYOPT, value: ${rubyOption(dir)} }]
volumeMounts: [{ name: posidle, mountPath: ${dir} }]
volumes: [{ name: posidle, emptyDir: {} }]
`);
}

import { EXIT } from '../core/drain/outcome.ts';
import { rubyOption } from '../core/witness/load.ts';
import { inWords } from '../node/files/in-words.ts';
import { writeWitness } from '../node/witness/write-witness.ts';
import { UsageError } from '../tasks/usage-error.ts';

export async function runWitness(dir = ''): Promise<number> {
  if (dir === '') throw new UsageError('witness: DIR is missing. Use posidle witness /posidle');
  try {
    await writeWitness(dir);
  } catch (error) {
    throw new UsageError(`witness: cannot write to ${dir}: ${inWords(error as NodeJS.ErrnoException)}`);
  }
  process.stdout.write(`# Fluentd's container loads the witness with these lines, and its Pod has the volume:
env: [{ name: RUBYOPT, value: ${rubyOption(dir)} }]
volumeMounts: [{ name: posidle, mountPath: ${dir} }]
volumes: [{ name: posidle, emptyDir: {} }]
`);
  return EXIT.ok;
}

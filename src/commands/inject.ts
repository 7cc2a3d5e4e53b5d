import { readFile } from 'node:fs/promises';
import { text as textOf } from 'node:stream/consumers';
import { EXIT } from '../core/drain/outcome.ts';
import { injectInto, NO_POD } from '../core/inject/inject.ts';
import { printable } from '../core/text/printable.ts';
import { inWords } from '../node/files/in-words.ts';
import { type Manifest, parseManifests, writeManifests } from '../node/files/manifests.ts';
import { UsageError } from '../tasks/usage-error.ts';
import { VERSION } from './build-info.ts';

/** `posidle inject FILE…`: prints the manifests with posidle added. Writes nothing where one of them cannot be read. */
export async function runInject(files: readonly string[], image = `posidle:${VERSION}`): Promise<number> {
  if (files.length === 0)
    throw new UsageError('inject: the file is missing. Use posidle inject FILE, or - for stdin');
  const changed: unknown[] = [];
  for (const file of files) {
    const pods = [];
    const manifests = at(file, await read(file));
    for (const manifest of manifests) {
      const injected = within(`${file}:${manifest.line}:${manifest.column}`, () =>
        injectInto(manifest.document, image),
      );
      changed.push(injected.document);
      pods.push(...injected.pods);
    }
    const { line = 1, column = 1 } = manifests[0] ?? {};
    if (pods.length === 0) throw new UsageError(`inject: ${file}:${line}:${column}: ${NO_POD}`);
    for (const { name, reason } of pods)
      if (reason !== undefined)
        process.stderr.write(`${printable(`posidle: ${file}: ${name} stays as it is: ${reason}`)}\n`);
  }
  process.stdout.write(writeManifests(changed));
  return EXIT.ok;
}

async function read(file: string): Promise<string> {
  try {
    return await (file === '-' ? textOf(process.stdin) : readFile(file, 'utf8'));
  } catch (error) {
    throw new UsageError(`inject: ${file}: ${inWords(error as NodeJS.ErrnoException)}`);
  }
}

function at(file: string, text: string): readonly Manifest[] {
  return within(file, () => parseManifests(text), ':');
}

function within<T>(place: string, work: () => T, mark = ': '): T {
  try {
    return work();
  } catch (error) {
    throw new UsageError(`inject: ${place}${mark}${(error as Error).message}`);
  }
}

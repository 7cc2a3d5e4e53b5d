import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { EXIT } from '../core/drain/outcome.ts';
import { injectInto, NO_POD } from '../core/inject/inject.ts';
import { printable } from '../core/text/printable.ts';
import { inWords } from '../node/files/in-words.ts';
import { parseManifests, writeManifests } from '../node/files/manifests.ts';
import { UsageError } from '../tasks/usage-error.ts';
import { VERSION } from './build-info.ts';

const UNCHANGED = 3;
const HELM = '. It looks like a template of Helm: use helm template … | posidle inject -';

/** `posidle inject FILE…`: prints the manifests with posidle added. If it cannot read one of them, it prints nothing. Resolves to the exit code. */
export async function runInject(
  files: readonly string[],
  image = `posidle:${VERSION}`,
  path?: string,
): Promise<number> {
  if (files.length === 0)
    throw new UsageError('inject: the file is missing. Use posidle inject FILE, or - for stdin');
  const changed: unknown[] = [];
  let hasChanged = false;
  for (const file of files) {
    const pods = [];
    let place = `${file}:`;
    let content = '';
    try {
      content = await textOf(file);
      const manifests = parseManifests(content);
      for (const manifest of manifests) {
        place = `${file}:${manifest.line}:${manifest.column}: `;
        const injected = injectInto(manifest.document, image, path?.split('.'));
        changed.push(injected.document);
        pods.push(...injected.pods);
      }
      const { line = 1, column = 1 } = manifests[0] ?? {};
      place = `${file}:${line}:${column}: `;
      if (pods.length === 0) throw new Error(NO_POD);
    } catch (error) {
      throw new UsageError(
        `inject: ${place}${(error as Error).message}${content.includes('{{') ? HELM : ''}`,
      );
    }
    const say = (words: string) => process.stderr.write(`${printable(`posidle: ${file}: ${words}`)}\n`);
    for (const { name, reason, warning } of pods) {
      hasChanged ||= reason === undefined;
      if (reason !== undefined) say(`${name} stays as it is: ${reason}`);
      if (warning !== undefined) say(`${name}: ${warning}`);
    }
  }
  process.stdout.write(writeManifests(changed));
  return hasChanged ? EXIT.ok : UNCHANGED;
}

async function textOf(file: string): Promise<string> {
  try {
    return await (file === '-' ? text(process.stdin) : readFile(file, 'utf8'));
  } catch (error) {
    throw new Error(` ${inWords(error as NodeJS.ErrnoException)}`);
  }
}

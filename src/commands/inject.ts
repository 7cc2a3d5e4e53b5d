import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { EXIT } from '../core/drain/outcome.ts';
import { type InjectedPod, injectInto, noPod } from '../core/inject/inject.ts';
import { groupedBy } from '../core/text/lists.ts';
import { printable } from '../core/text/printable.ts';
import { inWords } from '../node/files/in-words.ts';
import { parseManifests, writeManifest } from '../node/files/manifests.ts';
import { UsageError } from '../tasks/usage-error.ts';
import { VERSION } from './build-info.ts';

const UNCHANGED = 3;
const HELM = '. It looks like a template of Helm: use helm template … | posidle inject -';

export interface InjectOptions {
  readonly image?: string;
  readonly path?: string;
  readonly container?: string;
}

/** `posidle inject FILE…`: prints the manifests with posidle added. If it cannot read one of them, it prints nothing. Resolves to the exit code. */
export async function runInject(files: readonly string[], options: InjectOptions): Promise<number> {
  const { image: given, path, container } = options;
  if (files.length === 0)
    throw new UsageError('inject: the file is missing. Use posidle inject FILE, or - for stdin');
  const image = given ?? `posidle:${VERSION}`;
  const where = { path: path?.split('.'), container };
  const printed: string[] = [];
  const all: InjectedPod[] = [];
  let helm = '';
  for (const file of files) {
    const pods: InjectedPod[] = [];
    try {
      const content = await textOf(file);
      if (content.includes('{{')) helm = HELM;
      for (const { document, source } of parseManifests(content)) {
        const injected = injectInto(document, image, where);
        printed.push(injected.pods.some(isChanged) ? writeManifest(injected.document) : source);
        pods.push(...injected.pods);
      }
    } catch (error) {
      throw new UsageError(`inject: ${file}: ${(error as Error).message}${helm}`);
    }
    for (const [reason, group] of groupedBy(pods, (pod) => pod.reason ?? ''))
      if (reason !== '') say(`${file}: ${stayIn(group)}: ${reason}`);
    for (const { name, warnings = [] } of pods)
      for (const warning of warnings) say(`${file}: ${name}: ${warning}`);
    all.push(...pods);
  }
  if (all.length === 0) say(`${files.join(', ')}: ${noPod(path)}${helm}`);
  process.stdout.write(printed.join('---\n'));
  if (!all.some(isChanged)) return UNCHANGED;
  if (given === undefined)
    process.stderr.write(`posidle: ${image} is in no registry. Use --image REGISTRY/${image}\n`);
  return EXIT.ok;
}

function isChanged({ reason }: InjectedPod): boolean {
  return reason === undefined;
}

function say(words: string): void {
  process.stderr.write(`${printable(`posidle: ${words}`)}\n`);
}

const MOST_NAMED = 10;

/** A chart may have very many Pods without Fluentd. */
function stayIn(pods: readonly InjectedPod[]): string {
  const names = pods.slice(0, MOST_NAMED).map(({ name }) => name);
  const more = pods.length > MOST_NAMED ? ` and ${pods.length - MOST_NAMED} more` : '';
  return `${names.join(', ')}${more} ${pods.length === 1 ? 'stays as it is' : 'stay as they are'}`;
}

async function textOf(file: string): Promise<string> {
  const content = file === '-' ? text(process.stdin) : readFile(file, 'utf8');
  return await content.catch((error) => {
    throw new Error(inWords(error));
  });
}

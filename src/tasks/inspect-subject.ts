import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { ConfFacts } from '../core/fluent-conf/facts.ts';
import { BelowRoot, placesBelow } from '../node/files/below-root.ts';
import { exists, type PlaceOf } from '../node/files/files.ts';
import { expandGlob } from '../node/files/glob.ts';
import { inWords } from '../node/files/in-words.ts';
import type { NodeHost } from '../node/node-host.ts';
import { findPosFiles, type Wanted as PosFilesWanted } from './find-pos-files.ts';
import { UsageError } from './usage-error.ts';

/** Can be read only once. */
export const STDIN = '-';

/** A pos file: how it is named, and where it lies for us. */
export interface Place {
  readonly name: string;
  readonly place: string;
}

/** What is to be inspected. */
export interface InspectSubject {
  /** Only what stands in the pos files: no log file is looked at. */
  readonly raw: boolean;
  readonly root: string | undefined;
  readonly conf: ConfFacts | undefined;
  readonly warnings: readonly string[];
  /** The directory of the witnesses' sockets. */
  readonly witness: string | undefined;
  posFiles(): Promise<readonly Place[]>;
}

type Wanted = Pick<PosFilesWanted, 'posFiles' | 'fluentConf' | 'nameOptions'> &
  Pick<InspectSubject, 'raw' | 'root' | 'witness'>;

/** What is meant; throws where there is nothing to look at. */
export async function inspectSubject(host: NodeHost, wanted: Wanted): Promise<InspectSubject> {
  const { raw, root } = wanted;
  if (root !== undefined) await refuseRoot(root);
  const below = root === undefined ? undefined : new BelowRoot(root);
  const places = () => distinct(wanted.posFiles.map((name) => placesNamed(host, name, root)));
  const named = await places();
  const found =
    raw && named.length > 0
      ? { posFiles: [], conf: undefined, warnings: [] }
      : await findPosFiles(host, {
          posFiles: named.map(({ name }) => name),
          fluentConf: wanted.fluentConf,
          nameOptions: wanted.nameOptions,
          below,
        });
  return {
    raw,
    root,
    conf: found.conf,
    warnings: found.warnings,
    posFiles:
      named.length > 0
        ? places
        : () => distinct(found.posFiles.map((name) => placesInside(host, name, root))),
    witness: wanted.witness,
  };
}

async function refuseRoot(root: string): Promise<void> {
  const found = await stat(root).catch((error: NodeJS.ErrnoException) => error);
  if (found instanceof Error) throw new UsageError(`\`root\`: ${root}: ${inWords(found)}; ${ROOTS}`);
  if (!found.isDirectory()) throw new UsageError(`\`root\`: ${root} isn't a directory; ${ROOTS}`);
}

const ROOTS = "name a node's mount or /proc/PID/root";

/** A pos file that a user names lies below the root, or is one of ours where it is not there. */
async function placesNamed(host: NodeHost, pattern: string, root: string | undefined) {
  if (pattern === STDIN) return [{ name: STDIN, place: STDIN }];
  const inside = await placesInside(host, pattern, root);
  if (root === undefined || (await isOneThere(inside))) return inside;
  const below = new BelowRoot(root);
  const ours = (await expandGlob(pattern)).map((place) => ({ name: below.nameOf(place), place }));
  return (await isOneThere(ours)) ? ours : inside;
}

/** What a configuration names lies below the root only. */
async function placesInside(host: NodeHost, pattern: string, root: string | undefined) {
  const placeOf = placesBelow(root);
  const names = await host.expand(pattern);
  return names.map((name) => ({ name, place: placeOrNone(name, placeOf) }));
}

/** Links without end lead nowhere. */
function placeOrNone(name: string, placeOf: PlaceOf): string {
  try {
    return placeOf(name);
  } catch {
    return `/dev/null${name}`;
  }
}

async function isOneThere([first]: readonly Place[]): Promise<boolean> {
  return first !== undefined && (await exists(first.place));
}

async function distinct(places: readonly Promise<readonly Place[]>[]): Promise<readonly Place[]> {
  const all = (await Promise.all(places)).flat();
  // The first name of a file is the one that it keeps.
  const byFile = new Map(
    all.toReversed().map((one) => [one.place === STDIN ? STDIN : resolve(one.place), one]),
  );
  return [...byFile.values()].toReversed();
}

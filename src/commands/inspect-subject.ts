import { resolve } from 'node:path';
import type { TailSource } from '../core/fluent-conf.ts';
import type { FollowedReading } from '../core/snapshot.ts';
import type { ConfFacts } from '../core/subject.ts';
import { listFollowed } from '../daemon/collect.ts';
import { BelowRoot } from '../node/below-root.ts';
import { exists } from '../node/files.ts';
import type { NodeHost } from '../node/node-host.ts';
import { usualPlaces } from './find-conf.ts';
import { findSubject, type Named } from './subject.ts';

const STDIN = '-';

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
  posFiles(): Promise<readonly Place[]>;
  followed(): Promise<readonly FollowedReading[]>;
}

type Wanted = Pick<Named, 'posFiles' | 'fluentConf'> & Pick<InspectSubject, 'raw' | 'root'>;

/** What is meant; throws where there is nothing to look at. */
export async function inspectSubject(host: NodeHost, wanted: Wanted): Promise<InspectSubject> {
  const { raw, root } = wanted;
  const below = root === undefined ? undefined : new BelowRoot(root);
  const places = () => placesOf(host, wanted.posFiles, below);
  const named = await places();
  const found =
    raw && named.length > 0
      ? { posFiles: [], conf: undefined, warnings: [] }
      : await findSubject(host, {
          posFiles: named.map(({ name }) => name),
          fluentConf: await confPlace(wanted.fluentConf, below),
        });
  return {
    raw,
    root,
    conf: found.conf && chunksBelow(found.conf, below),
    warnings: found.warnings,
    posFiles: named.length > 0 ? places : () => placesOf(host, found.posFiles, below),
    followed: () => followedBelow(host, found.conf?.sources ?? [], root),
  };
}

async function placesOf(
  host: NodeHost,
  patterns: readonly string[],
  below: BelowRoot | undefined,
): Promise<readonly Place[]> {
  const places = new Map<string, Place>();
  for (const pattern of patterns)
    for (const found of await placesOfOne(host, pattern, below)) {
      const key = found.place === STDIN ? STDIN : resolve(found.place);
      if (!places.has(key)) places.set(key, found);
    }
  return [...places.values()];
}

/** A pos file is named as a path of ours, or as the one below the root where ours is not there. */
async function placesOfOne(
  host: NodeHost,
  pattern: string,
  below: BelowRoot | undefined,
): Promise<readonly Place[]> {
  if (pattern === STDIN) return [{ name: pattern, place: pattern }];
  const names = await host.expand(pattern);
  const [only = pattern, ...others] = names;
  if (below === undefined || others.length > 0 || (await exists(only)))
    return names.map((name) => ({ name, place: name }));
  const inside = await host.expand(below.resolve(pattern));
  return inside.map((place) => ({ name: below.nameOf(place), place }));
}

async function confPlace(
  given: string | undefined,
  below: BelowRoot | undefined,
): Promise<string | undefined> {
  if (below === undefined) return given;
  const candidates = given === undefined ? usualPlaces(process.env) : [given];
  if (given !== undefined && (await exists(given))) return given;
  for (const path of candidates.map((candidate) => below.resolve(candidate)))
    if (await exists(path)) return path;
  return given;
}

function chunksBelow(conf: ConfFacts, below: BelowRoot | undefined): ConfFacts {
  if (below === undefined) return conf;
  const buffers = conf.buffers.map((buffer) => ({
    ...buffer,
    chunkGlobs: buffer.chunkGlobs.map((glob) => below.placeOf(glob)),
  }));
  return { ...conf, buffers };
}

async function followedBelow(
  host: NodeHost,
  sources: readonly TailSource[],
  root: string | undefined,
): Promise<readonly FollowedReading[]> {
  if (root === undefined) return listFollowed(host, sources);
  const below = new BelowRoot(root);
  const inside = (path: string) => below.placeOf(path);
  const found = await listFollowed(
    host,
    sources.map((source) => ({
      ...source,
      paths: source.paths.map(inside),
      excludePaths: source.excludePaths.map(inside),
    })),
  );
  return found.map((reading) => ({
    ...reading,
    files: reading.files.map((file) => ({ ...file, path: below.nameOf(file.path) })),
  }));
}

import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { nearest } from '../core/text/nearest.ts';
import { readToken } from '../node/network/http-server.ts';
import { OPTION_NAMES } from './options/commands.ts';
import { variableOf } from './options/environment.ts';
import type { SharedArgs } from './options/options.ts';

type Environment = Readonly<Record<string, string | undefined>>;

type Args = Pick<Partial<SharedArgs>, 'quit-token' | 'done-file' | 'heartbeat-file'>;

/** What is probably a mistake, though posidle can start with it. */
export async function startWarnings(args: Args, env: Environment): Promise<readonly string[]> {
  const { 'quit-token': tokenFile } = args;
  const noToken =
    tokenFile === undefined || tokenFile === 'none'
      ? undefined
      : await readToken(tokenFile).then(none, (error: Error) => error.message);
  return [
    ...unknownVariables(env),
    ...(['done-file', 'heartbeat-file'] as const).flatMap((option) => withoutDirectory(option, args[option])),
    ...(noToken === undefined
      ? []
      : [`--quit-token: ${tokenFile}: ${noToken}. Until that changes, every POST is refused`]),
  ];
}

function withoutDirectory(option: string, path: string | undefined): readonly string[] {
  if (path === undefined || existsSync(dirname(path))) return [];
  return [`--${option}: the directory ${dirname(path)} doesn't exist yet. Is its volume mounted here?`];
}

function none(): undefined {}

/** Kubernetes makes such variables for each Service: a Service `posidle` or `posidle-x` is no mistake. */
const OF_A_SERVICE = /_SERVICE_HOST$|_SERVICE_PORT(_\w+)?$|_PORT(_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)?$/;

/** The witness reads it, too. */
const WITNESS_DIR = 'POSIDLE_DIR';

/** Variables that look like an option's, and are none of any command. */
export function unknownVariables(env: Environment): readonly string[] {
  const known = [...[...OPTION_NAMES].map(variableOf), WITNESS_DIR];
  const unknown = Object.keys(env).filter(
    (name) => name.startsWith('POSIDLE_') && !known.includes(name) && !OF_A_SERVICE.test(name),
  );
  return unknown.map((name) => {
    const meant = nearest(name, known);
    return `${name}: no option has this name${meant === undefined ? '' : `. Did you mean ${meant}?`}`;
  });
}

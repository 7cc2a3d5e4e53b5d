import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { nearest } from '../core/text/nearest.ts';
import type { WatchOptions } from '../tasks/watch-options.ts';
import { OPTION_NAMES } from './options/commands.ts';
import { variableOf } from './options/environment.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** Warnings about probable mistakes that do not keep posidle from starting. */
export function startWarnings(options: WatchOptions, env: Environment): readonly string[] {
  const files = ['doneFile', 'heartbeatFile'] as const;
  const early = files.flatMap((option) => {
    const directory = dirname(options[option] ?? '/');
    const text = `\`${option}\`: the directory ${directory} doesn't exist yet. Is its volume mounted here?`;
    return existsSync(directory) ? [] : [text];
  });
  return [...unknownVariables(env), ...early];
}

/** Kubernetes sets these for each Service, so for a Service `posidle` too. */
const SERVICE_VARIABLE =
  /_SERVICE_HOST$|_SERVICE_PORT(_\w+)?$|_PORT(_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)?$/;

/** No option has this name, but posidle and the witness read it. */
const WITNESS_DIR = 'POSIDLE_DIR';

/** Warnings about variables that look like options but match no option of any command. */
export function unknownVariables(env: Environment): readonly string[] {
  const known = [...[...OPTION_NAMES].map(variableOf), WITNESS_DIR];
  const unknown = Object.keys(env).filter(
    (name) => name.startsWith('POSIDLE_') && !known.includes(name) && !SERVICE_VARIABLE.test(name),
  );
  return unknown.map((name) => {
    const meant = nearest(name, known);
    return `${name}: no option has this name${meant === undefined ? '' : `. Did you mean ${meant}?`}`;
  });
}

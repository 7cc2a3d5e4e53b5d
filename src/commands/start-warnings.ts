import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { nearest } from '../core/text/nearest.ts';
import type { WatchOptions } from '../tasks/watch-options.ts';
import { OPTION_NAMES } from './options/commands.ts';
import { variableOf } from './options/environment.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** What is probably a mistake, though posidle can start with it. */
export function startWarnings(options: WatchOptions, env: Environment): readonly string[] {
  const files = ['doneFile', 'heartbeatFile'] as const;
  const early = files.flatMap((option) => {
    const directory = dirname(options[option] ?? '/');
    const text = `\`${option}\`: the directory ${directory} doesn't exist yet. Is its volume mounted here?`;
    return existsSync(directory) ? [] : [text];
  });
  return [...unknownVariables(env), ...early];
}

/** Kubernetes makes such variables for each Service: a Service `posidle` or `posidle-x` is no mistake. */
const SERVICE_VARIABLE =
  /_SERVICE_HOST$|_SERVICE_PORT(_\w+)?$|_PORT(_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)?$/;

/** The witness reads it, too. */
const WITNESS_DIR = 'POSIDLE_DIR';

/** Variables that look like an option's, and are none of any command. */
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

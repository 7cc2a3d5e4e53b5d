import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { didYouMean } from '../core/text/did-you-mean.ts';
import type { WatchOptions } from '../tasks/watch-options.ts';
import { COMMANDS, type Command } from './options/commands.ts';
import { variableOf } from './options/environment.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** Warnings about probable mistakes that do not keep posidle from starting. */
export function startWarnings(options: WatchOptions, env: Environment): readonly string[] {
  const files = { 'done-file': options.doneFile, 'heartbeat-file': options.heartbeatFile };
  const early = Object.entries(files).flatMap(([option, path = '/']) => {
    const directory = dirname(path);
    const text = `--${option}: the directory ${directory} doesn't exist yet. Is its volume mounted here?`;
    return existsSync(directory) ? [] : [text];
  });
  return [...unknownVariables(env), ...early];
}

/** Kubernetes sets these for each Service, so for a Service `posidle` too. */
const SERVICE_VARIABLE =
  /_SERVICE_HOST$|_SERVICE_PORT(_\w+)?$|_PORT(_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)?$/;

/** No option has these names, but the witness reads them. */
const OF_WITNESS = ['POSIDLE_DIR', 'POSIDLE_FIND'];

export function unknownVariables(env: Environment): readonly string[] {
  const names = Object.values<Command>(COMMANDS).flatMap(({ options }) => Object.keys(options));
  const known = [...names.map(variableOf), ...OF_WITNESS];
  const unknown = Object.keys(env).filter(
    (name) => name.startsWith('POSIDLE_') && !known.includes(name) && !SERVICE_VARIABLE.test(name),
  );
  return unknown.map((name) =>
    [`${name}: no option has this name`, didYouMean(name, known)].filter(Boolean).join('. '),
  );
}

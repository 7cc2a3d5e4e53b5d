import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { nearest } from '../core/text/nearest.ts';
import { readToken } from '../node/network/http-server.ts';
import { drainOptions } from './options/drain-options.ts';
import { variableOf } from './options/environment.ts';
import { exportOptions } from './options/export-options.ts';
import { injectOptions } from './options/inject-options.ts';
import { inspectOptions } from './options/inspect-options.ts';
import { runOptions, type SharedArgs, type WatchArgs, watchOptions } from './options/options.ts';

type Environment = Readonly<Record<string, string | undefined>>;

type Args = Partial<SharedArgs & Pick<WatchArgs, 'native-sidecar'>>;

/** What is probably a mistake, though posidle can start with it. */
export async function startWarnings(args: Args, env: Environment): Promise<readonly string[]> {
  const { 'quit-token': tokenFile } = args;
  const noToken =
    tokenFile === undefined || tokenFile === 'none'
      ? undefined
      : await readToken(tokenFile).then(none, (error: Error) => error.message);
  return [
    ...unknownVariables(env),
    ...withoutEffect(args),
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

type Known = keyof Args & keyof typeof watchOptions;

/** Options that count only beside another one, or one of several. */
const NEEDED: readonly (readonly [Known, ...Known[]])[] = [
  ['heartbeat-age', 'heartbeat-file'],
  ['done-process-gone', 'done-process'],
];

function withoutEffect(args: Args): readonly string[] {
  const ignored = NEEDED.filter(
    ([option, ...needed]) => isGiven(args, option) && needed.every((other) => args[other] === undefined),
  );
  const isLeft = args['native-sidecar'] === true && isGiven(args, 'stop-timeout');
  return [
    ...ignored.map(([option, ...needed]) => `--${option} has no effect without --${needed.join(' or --')}`),
    ...(isLeft ? ['--stop-timeout has no effect with --native-sidecar: the kubelet stops Fluentd'] : []),
  ];
}

interface DefaultedOption {
  readonly default?: unknown;
  readonly coerce?: (text: string) => unknown;
}

function isGiven(args: Args, option: Known): boolean {
  const { default: written, coerce } = watchOptions[option] as DefaultedOption;
  const value = args[option];
  const byDefault = typeof written === 'string' && coerce !== undefined ? coerce(written) : written;
  return value !== undefined && value !== false && value !== byDefault;
}

function none(): undefined {}

/** Kubernetes makes such variables for each Service: a Service `posidle` or `posidle-x` is no mistake. */
const OF_A_SERVICE = /_SERVICE_HOST$|_SERVICE_PORT(_\w+)?$|_PORT(_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)?$/;

/** The witness reads it, too. */
const WITNESS_DIR = 'POSIDLE_DIR';

/** Variables that look like an option's, and are none of any command. */
export function unknownVariables(env: Environment): readonly string[] {
  const options = Object.keys({
    ...watchOptions,
    ...drainOptions,
    ...runOptions,
    ...inspectOptions,
    ...exportOptions,
    ...injectOptions,
  }).map(variableOf);
  const known = [...options, WITNESS_DIR];
  const unknown = Object.keys(env).filter(
    (name) => name.startsWith('POSIDLE_') && !known.includes(name) && !OF_A_SERVICE.test(name),
  );
  return unknown.map((name) => {
    const meant = nearest(name, options);
    return `${name}: no option has this name${meant === undefined ? '' : `. Did you mean ${meant}?`}`;
  });
}

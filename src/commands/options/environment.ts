import type { Options } from 'yargs';
import { didYouMean } from '../../core/text/did-you-mean.ts';
import { UsageError } from '../../tasks/usage-error.ts';
import { COMMANDS, type Command } from './commands.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The options from the environment: `POSIDLE_` and the name in capitals. yargs's own `env` refuses a variable that is no option of this
 * command, takes POSIDLE_STRICT=1 for false, and blames the option.
 */
export function optionsFromEnvironment(
  env: Environment,
  options: Readonly<Record<string, Options>>,
): Readonly<Record<string, unknown>> {
  const given = Object.entries(options).flatMap(([name, option]) => {
    const variable = variableOf(name);
    const value = env[variable];
    return value ? [[name, fromEnvironment(variable, option, value)]] : [];
  });
  return Object.fromEntries(given);
}

export function variableOf(option: string): string {
  return `POSIDLE_${option.toUpperCase().replaceAll('-', '_')}`;
}

function fromEnvironment(variable: string, { array, type, coerce }: Options, value: string): unknown {
  if (array) return value.split(',');
  if (type === 'boolean') {
    if (/^(1|true|yes|on)$/i.test(value)) return true;
    if (/^(0|false|no|off)$/i.test(value)) return false;
    throw new UsageError(`${variable}: '${value}' isn't true or false`);
  }
  try {
    coerce?.(value);
  } catch (error) {
    throw new UsageError((error as Error).message.replace(/^--[\w-]+/, variable));
  }
  return value;
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

import type { Options } from 'yargs';
import { UsageError } from '../../tasks/usage-error.ts';

/**
 * The options from the environment: `POSIDLE_` and the name in capitals. yargs's own `env` refuses a variable that is no option of this
 * command, takes POSIDLE_STRICT=1 for false, and blames the option.
 */
export function optionsFromEnvironment(
  env: Readonly<Record<string, string | undefined>>,
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

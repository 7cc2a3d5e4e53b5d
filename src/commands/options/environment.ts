import type { Options } from 'yargs';
import { nearest } from '../../core/text/nearest.ts';
import { UsageError } from '../../tasks/usage-error.ts';

/** Reads each option from `POSIDLE_` + its name in capitals. Ignores other variables with that prefix. */
export function optionsFromEnvironment(
  env: Readonly<Record<string, string | undefined>>,
  options: Readonly<Record<string, Options>>,
): Readonly<Record<string, unknown>> {
  const given = Object.entries(options).flatMap(([name, option]) => {
    const variable = variableOf(name);
    const value = env[variable];
    return value === undefined || value === '' ? [] : [[name, fromEnvironment(variable, option, value)]];
  });
  return Object.fromEntries(given);
}

export function variableOf(option: string): string {
  return `POSIDLE_${option.toUpperCase().replaceAll('-', '_')}`;
}

function fromEnvironment(variable: string, option: Options, value: string): unknown {
  if (option.array === true) return value.split(',');
  if (option.type !== 'boolean') return checked(variable, option, value);
  if (/^(1|true|yes|on)$/i.test(value)) return true;
  if (/^(0|false|no|off)$/i.test(value)) return false;
  throw new UsageError(`${variable}: '${value}' isn't true or false`);
}

/** Checks the value here, because yargs would blame an option that nobody gave. */
function checked(variable: string, { choices, coerce }: Options, value: string): string {
  if (choices !== undefined && !choices.includes(value))
    throw new UsageError(`${variable}: ${notOneOf(value, choices.map(String))}`);
  try {
    coerce?.(value);
  } catch (error) {
    throw new UsageError((error as Error).message.replace(/^--[\w-]+/, variable));
  }
  return value;
}

/** `'jsno' isn't one of json, pretty. Did you mean json?` */
export function notOneOf(given: string, choices: readonly string[]): string {
  const meant = nearest(given, choices);
  return `'${given}' isn't one of ${choices.join(', ')}${meant === undefined ? '' : `. Did you mean ${meant}?`}`;
}

import { setFlagsFromString } from 'node:v8';

/**
 * The same regular expression, matched in time that grows with the text and no faster: whoever shares the process namespace chooses the
 * text. V8 has an engine for that behind a flag. Throws where the expression needs the other one.
 */
export function linear({ source, flags }: RegExp): RegExp {
  setFlagsFromString('--enable-experimental-regexp-engine');
  return new RegExp(source, `${flags.replace('l', '')}l`);
}

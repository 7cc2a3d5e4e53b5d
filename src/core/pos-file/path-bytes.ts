/**
 * A path is any bytes except NUL (and, in a pos file, tab and newline). posidle keeps it as one string without loss: valid UTF-8 stays
 * as it is, and every other byte becomes a lone surrogate U+DC80..U+DCFF, as in Python's PEP 383 ("surrogateescape").
 */

const ESCAPED = 0xdc00;
/** The decoder's result for bytes that are no UTF-8, and for the character itself. */
const REPLACEMENT = '\ufffd';
/** In Latin-1, which has a character for each byte: one character of UTF-8 of two bytes or more (RFC 3629). */
const SIGN =
  '[\xc2-\xdf][\x80-\xbf]|\xe0[\xa0-\xbf][\x80-\xbf]|\xed[\x80-\x9f][\x80-\xbf]|[\xe1-\xec\xee\xef][\x80-\xbf]{2}|\xf0[\x90-\xbf][\x80-\xbf]{2}|[\xf1-\xf3][\x80-\xbf]{3}|\xf4[\x80-\x8f][\x80-\xbf]{2}';
/** Runs, because there may be millions of bytes: of such characters, and of bytes that belong to none. */
const RUNS = new RegExp(`((?:${SIGN})+)|(?:(?!${SIGN})[\x80-\xff])+`, 'g');
const ESCAPED_RUNS = /([\udc80-\udcff]+)|[^\0-\x7f\udc80-\udcff]+/gu;
const PART = 8_192;
const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

const encoder = new TextEncoder();

export function decodePath(bytes: Uint8Array): string {
  const text = decoder.decode(bytes);
  if (!text.includes(REPLACEMENT)) return text;
  return textOf(bytes).replace(RUNS, (run, valid?: string) =>
    valid === undefined ? shifted(run, ESCAPED) : decoder.decode(bytesOf(valid)),
  );
}

export function encodePath(path: string): Uint8Array {
  if (path.isWellFormed()) return encoder.encode(path);
  return bytesOf(
    path.replace(ESCAPED_RUNS, (run, escaped?: string) =>
      escaped === undefined ? textOf(encoder.encode(run)) : shifted(escaped, -ESCAPED),
    ),
  );
}

function shifted(text: string, by: number): string {
  return textOf(unitsOf(text, by));
}

function bytesOf(latin1: string): Uint8Array {
  return new Uint8Array(unitsOf(latin1, 0));
}

function unitsOf(text: string, by: number): Uint16Array {
  const units = new Uint16Array(text.length);
  for (let at = 0; at < units.length; at += 1) units[at] = text.charCodeAt(at) + by;
  return units;
}

/** In parts, because a call takes only so many arguments. */
function textOf(units: Uint8Array | Uint16Array): string {
  let text = '';
  for (let at = 0; at < units.length; at += PART)
    text += Reflect.apply(String.fromCharCode, String, units.subarray(at, at + PART));
  return text;
}

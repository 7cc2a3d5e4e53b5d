/**
 * A path is any bytes except NUL (and, in a pos file, tab and newline). posidle keeps it as one string without loss: valid UTF-8 stays
 * as it is, and every other byte becomes a lone surrogate U+DC80..U+DCFF, as in Python's PEP 383 ("surrogateescape").
 */

const ESCAPED = 0xdc00;
/** The most codes for one call of String.fromCodePoint. */
const MOST_CODES = 8_192;
/** The decoder's result for bytes that are no UTF-8, and for the character itself. */
const REPLACEMENT = '\ufffd';
// Not `fatal`: for a megabyte that is no UTF-8, an exception for each byte takes seconds.
const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
const encoder = new TextEncoder();

export function decodePath(bytes: Uint8Array): string {
  const text = decoder.decode(bytes);
  return text.includes(REPLACEMENT) ? decodeByParts(bytes) : text;
}

export function encodePath(path: string): Uint8Array {
  if (path.isWellFormed()) return encoder.encode(path);
  const bytes: number[] = [];
  for (let at = 0; at < path.length; ) {
    const code = path.codePointAt(at) as number;
    if (code < 0x80) bytes.push(code);
    else if (isEscapedByte(code)) bytes.push(code - ESCAPED);
    else bytes.push(...encoder.encode(String.fromCodePoint(code)));
    at += code > 0xffff ? 2 : 1;
  }
  return new Uint8Array(bytes);
}

function isEscapedByte(code: number): boolean {
  return code >= ESCAPED + 0x80 && code <= ESCAPED + 0xff;
}

/** Not `+=` for each character: V8 keeps 32 bytes for each one as long as the string lives. */
function decodeByParts(bytes: Uint8Array): string {
  const codes: number[] = [];
  const parts: string[] = [];
  for (let at = 0; at < bytes.length; ) {
    const lead = bytes[at] as number;
    // For a megabyte that is no UTF-8, a call or an object for each byte takes seconds.
    const whole = sequenceLength(lead) > 1 ? wholeAt(bytes, at) : undefined;
    codes.push(whole?.code ?? (lead < 0x80 ? lead : ESCAPED + lead));
    at += whole?.length ?? 1;
    if (codes.length === MOST_CODES || at >= bytes.length)
      parts.push(String.fromCodePoint(...codes.splice(0)));
  }
  return parts.join('');
}

/** The character that begins at `at`; undefined if none does. */
function wholeAt(bytes: Uint8Array, at: number): { code: number; length: number } | undefined {
  const part = bytes.subarray(at, at + sequenceLength(bytes[at] as number));
  const char = decoder.decode(part);
  if (char.startsWith(REPLACEMENT) && !isReplacement(part)) return undefined;
  return { code: char.codePointAt(0) as number, length: part.length };
}

function isReplacement([first, second, third]: Uint8Array): boolean {
  return first === 0xef && second === 0xbf && third === 0xbd;
}

function sequenceLength(lead: number): number {
  if (lead < 0xc2 || lead > 0xf4) return 1;
  if (lead < 0xe0) return 2;
  return lead < 0xf0 ? 3 : 4;
}

/**
 * A path may hold any bytes but NUL (and, in a pos file, tab and newline). It is kept as one string: valid UTF-8 as
 * itself, every other byte as a lone surrogate U+DC80..U+DCFF, so that it can be turned back into the very bytes
 * (the convention of Python's PEP 383, "surrogateescape").
 */

const ESCAPED = 0xdc00;
/** One call takes so many. */
const MOST_CODES = 8_192;
/** What a decoder gives for bytes that are no UTF-8, and for the three bytes that are this very character. */
const REPLACEMENT = '\ufffd';
// Not `fatal`: an exception for each byte takes seconds where a megabyte is no UTF-8.
const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
const encoder = new TextEncoder();

export function decodePath(bytes: Uint8Array): string {
  const text = decoder.decode(bytes);
  return text.includes(REPLACEMENT) ? decodeByParts(bytes) : text;
}

export function encodePath(path: string): Uint8Array {
  if (path.isWellFormed()) return encoder.encode(path);
  const bytes: number[] = [];
  for (const char of path) {
    const code = char.codePointAt(0) ?? 0;
    if (code < 0x80) bytes.push(code);
    else if (isEscapedByte(code)) bytes.push(code - ESCAPED);
    else bytes.push(...encoder.encode(char));
  }
  return Uint8Array.from(bytes);
}

function isEscapedByte(code: number): boolean {
  return code >= ESCAPED + 0x80 && code <= ESCAPED + 0xff;
}

/** Not `+=` for each character: V8 keeps 32 bytes for each of these, as long as the string lives. */
function decodeByParts(bytes: Uint8Array): string {
  const codes: number[] = [];
  const parts: string[] = [];
  for (let at = 0; at < bytes.length; ) {
    const lead = bytes[at] as number;
    const part = bytes.subarray(at, at + sequenceLength(lead));
    // A call for each byte takes seconds where a megabyte is no UTF-8.
    const char = part.length > 1 ? decoder.decode(part) : '';
    const isWhole = char !== '' && (!char.startsWith(REPLACEMENT) || isReplacement(part));
    codes.push(isWhole ? (char.codePointAt(0) as number) : lead < 0x80 ? lead : ESCAPED + lead);
    at += isWhole ? part.length : 1;
    if (codes.length === MOST_CODES || at >= bytes.length)
      parts.push(String.fromCodePoint(...codes.splice(0)));
  }
  return parts.join('');
}

function isReplacement([first, second, third]: Uint8Array): boolean {
  return first === 0xef && second === 0xbf && third === 0xbd;
}

function sequenceLength(lead: number): number {
  if (lead < 0xc2 || lead > 0xf4) return 1;
  if (lead < 0xe0) return 2;
  return lead < 0xf0 ? 3 : 4;
}

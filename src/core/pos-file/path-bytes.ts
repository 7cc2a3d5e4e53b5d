/**
 * A path may hold any bytes but NUL (and, in a pos file, tab and newline). It is kept as one string: valid UTF-8 as
 * itself, every other byte as a lone surrogate U+DC80..U+DCFF, so that it can be turned back into the very bytes
 * (the convention of Python's PEP 383, "surrogateescape").
 */

const ESCAPED = 0xdc00;
const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const encoder = new TextEncoder();

/** Bytes to a lossless path string. */
export function decodePath(bytes: Uint8Array): string {
  return decodeStrictly(bytes) ?? decodeByParts(bytes);
}

/** A path string back to the bytes that it came from. */
export function encodePath(path: string): Uint8Array {
  if (path.isWellFormed()) return encoder.encode(path);
  const bytes: number[] = [];
  for (const char of path) {
    const code = char.codePointAt(0) ?? 0;
    if (isEscapedByte(code)) bytes.push(code - ESCAPED);
    else bytes.push(...encoder.encode(char));
  }
  return Uint8Array.from(bytes);
}

function isEscapedByte(code: number): boolean {
  return code >= ESCAPED + 0x80 && code <= ESCAPED + 0xff;
}

function decodeStrictly(bytes: Uint8Array): string | undefined {
  try {
    return strict.decode(bytes);
  } catch {
    return undefined;
  }
}

function decodeByParts(bytes: Uint8Array): string {
  let text = '';
  for (let at = 0; at < bytes.length; ) {
    const length = sequenceLength(bytes[at] as number);
    const char = decodeStrictly(bytes.subarray(at, at + length));
    const whole = char !== undefined && at + length <= bytes.length;
    text += whole ? char : String.fromCharCode(ESCAPED + (bytes[at] as number));
    at += whole ? length : 1;
  }
  return text;
}

function sequenceLength(lead: number): number {
  if (lead < 0xc0) return 1;
  if (lead < 0xe0) return 2;
  return lead < 0xf0 ? 3 : 4;
}

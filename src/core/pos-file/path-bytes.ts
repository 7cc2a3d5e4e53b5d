/**
 * A path is any bytes except NUL (and, in a pos file, tab and newline). posidle keeps it as one string without loss: valid UTF-8 stays
 * as it is, and every other byte becomes a lone surrogate U+DC80..U+DCFF, as in Python's PEP 383 ("surrogateescape").
 */

const ESCAPED = 0xdc00;
/** The decoder's result for bytes that are no UTF-8, and for the character itself. */
const REPLACEMENT = '\ufffd';
/** In Latin-1, which has a character for each byte: one character of UTF-8 (RFC 3629), or a byte that belongs to none. */
const SIGN =
  /[\xc2-\xdf][\x80-\xbf]|\xe0[\xa0-\xbf][\x80-\xbf]|\xed[\x80-\x9f][\x80-\xbf]|[\xe1-\xec\xee\xef][\x80-\xbf]{2}|\xf0[\x90-\xbf][\x80-\xbf]{2}|[\xf1-\xf3][\x80-\xbf]{3}|\xf4[\x80-\x8f][\x80-\xbf]{2}|[\x80-\xff]/g;
const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

const encoder = new TextEncoder();

export function decodePath(bytes: Uint8Array): string {
  const text = decoder.decode(bytes);
  if (!text.includes(REPLACEMENT)) return text;
  const latin1 = Array.from(bytes, (byte) => String.fromCharCode(byte)).join('');
  return latin1.replace(SIGN, (sign) =>
    sign.length > 1 ? decoder.decode(bytesOf(sign)) : String.fromCharCode(ESCAPED + sign.charCodeAt(0)),
  );
}

export function encodePath(path: string): Uint8Array {
  if (path.isWellFormed()) return encoder.encode(path);
  const latin1 = path.replace(/[^\0-\x7f]/gu, (sign) =>
    /[\udc80-\udcff]/u.test(sign)
      ? String.fromCharCode(sign.charCodeAt(0) - ESCAPED)
      : String.fromCharCode(...encoder.encode(sign)),
  );
  return bytesOf(latin1);
}

function bytesOf(latin1: string): Uint8Array {
  return Uint8Array.from(latin1, (sign) => sign.charCodeAt(0));
}

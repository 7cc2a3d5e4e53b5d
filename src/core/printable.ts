// Control characters, line and paragraph separators, bidirectional controls, lone surrogates.
const UNSAFE = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}\p{Cs}]/gu;
/** Told apart first: three times as fast. */
const ASCII = /^[\x20-\x7e]*$/;

/** Text that cannot steer a terminal: whatever could is shown as `\xNN` or `\uNNNN`. */
export function printable(text: string): string {
  return ASCII.test(text) ? text : text.replace(UNSAFE, (char) => escaped(char.charCodeAt(0)));
}

/** U+DC80..U+DCFF stand for bytes that are not UTF-8 (path-bytes.ts). */
function escaped(code: number): string {
  const byte = code >= 0xdc80 && code <= 0xdcff ? code - 0xdc00 : code;
  return byte > 0xff
    ? `\\u${byte.toString(16).padStart(4, '0')}`
    : `\\x${byte.toString(16).padStart(2, '0')}`;
}

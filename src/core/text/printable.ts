// Control characters, line and paragraph separators, bidirectional controls, lone surrogates.
const UNSAFE = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}\p{Cs}]/gu;
/** Told apart first: three times as fast. */
const ASCII = /^[\x20-\x7e]*$/;

/** Text that cannot steer a terminal: whatever could is shown as `\xNN` or `\uNNNN`. */
export function printable(text: string): string {
  return ASCII.test(text) ? text : text.replace(UNSAFE, (char) => escaped(char.charCodeAt(0)));
}

/** JSON of the same value that cannot steer a terminal either: by itself it leaves C1 and bidirectional controls as they are. */
export function printableJson(value: unknown): string {
  const text = JSON.stringify(value);
  return ASCII.test(text) ? text : text.replace(UNSAFE, (char) => `\\u${hex(char.charCodeAt(0), 4)}`);
}

/** U+DC80..U+DCFF stand for bytes that are not UTF-8 (path-bytes.ts). */
function escaped(code: number): string {
  const byte = code >= 0xdc80 && code <= 0xdcff ? code - 0xdc00 : code;
  return byte > 0xff ? `\\u${hex(byte, 4)}` : `\\x${hex(byte, 2)}`;
}

function hex(code: number, digits: number): string {
  return code.toString(16).padStart(digits, '0');
}

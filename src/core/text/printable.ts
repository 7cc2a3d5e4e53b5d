// Characters that control a terminal or are invisible: controls, lone surrogates, unassigned, ignorable, and all blanks except the space.
const UNSAFE = /(?! )[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}]/gu;
/** Checked first, which is three times as fast. */
const ASCII = /^[\x20-\x7e]*$/;

/** Escapes every character that could control a terminal or hide something, as `\xNN`, `\uNNNN` or `\u{NNNNN}`. */
export function printable(text: string): string {
  return ASCII.test(text) ? text : text.replace(UNSAFE, escaped);
}

export function printableJson(value: unknown): string {
  return printableInJson(JSON.stringify(value));
}

/** JSON that cannot control a terminal. JSON.stringify leaves C1 and bidirectional controls unescaped. */
export function printableInJson(text: string): string {
  const inJson = (char: string) =>
    Array.from({ length: char.length }, (_, at) => `\\u${hex(char.charCodeAt(at), 4)}`).join('');
  return ASCII.test(text) ? text : text.replace(UNSAFE, inJson);
}

/** U+DC80..U+DCFF are bytes that are not UTF-8 (path-bytes.ts). */
function escaped(char: string): string {
  const code = char.codePointAt(0) ?? 0;
  const byte = code >= 0xdc80 && code <= 0xdcff ? code - 0xdc00 : code;
  if (byte > 0xffff) return `\\u{${hex(byte, 5)}}`;
  return byte > 0xff ? `\\u${hex(byte, 4)}` : `\\x${hex(byte, 2)}`;
}

function hex(code: number, digits: number): string {
  return code.toString(16).padStart(digits, '0');
}

import { decodePath } from './path-bytes.ts';

/** The parts of one line of a pos file: `path \t hex position \t hex inode`, whatever follows. */
export interface LineParts {
  /** Where the path ends. */
  readonly pathEnd: number;
  /** null: unwatched. */
  readonly position: number | null;
  /** Decimal. */
  readonly inode: string;
}

export const NEWLINE = 0x0a;
export const TAB = 0x09;
const UNWATCHED = 0xffff_ffff_ffff_ffffn;

/**
 * The entry that starts at `start`; undefined: Fluentd cannot parse it either. As POSITION_FILE_ENTRY_REGEX in
 * lib/fluent/plugin/in_tail/position_file.rb: a prefix match; whatever follows the inode is ignored.
 */
export function readLine(bytes: Uint8Array, start: number): LineParts | undefined {
  const pathEnd = endOfPath(bytes, start);
  if (pathEnd === start || bytes[pathEnd] !== TAB) return undefined;
  const positionEnd = endOfDigits(bytes, pathEnd + 1);
  if (positionEnd === pathEnd + 1 || bytes[positionEnd] !== TAB) return undefined;
  const inodeEnd = endOfDigits(bytes, positionEnd + 1);
  if (inodeEnd === positionEnd + 1) return undefined;
  return {
    pathEnd,
    position: positionOf(bytes, pathEnd + 1, positionEnd),
    inode: String(valueOf(bytes, positionEnd + 1, inodeEnd)),
  };
}

/** Why a line is none, for people. */
export function whyUnparsable(text: string): string {
  const [path = '', position, inode] = text.split('\t');
  if (text === '') return 'it is empty';
  if (/^\0+$/.test(text)) return 'nothing but NUL bytes, as a crash of the machine leaves them';
  if (position === undefined) return 'it holds no tab';
  if (path === '') return 'its path is empty';
  if (!/^[0-9a-f]+$/i.test(position)) return 'its position is no hexadecimal number';
  return inode === undefined ? 'it holds no inode' : 'its inode is no hexadecimal number';
}

function endOfPath(bytes: Uint8Array, start: number): number {
  let at = start;
  while (at < bytes.length && bytes[at] !== TAB && bytes[at] !== NEWLINE) at += 1;
  return at;
}

function endOfDigits(bytes: Uint8Array, start: number): number {
  let at = start;
  while (at < bytes.length && digitOf(bytes[at] as number) >= 0) at += 1;
  return at;
}

function digitOf(code: number): number {
  if (code >= 0x30 && code <= 0x39) return code - 0x30;
  const lower = code | 0x20;
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : -1;
}

function positionOf(bytes: Uint8Array, start: number, end: number): number | null {
  const value = valueOf(bytes, start, end);
  return value === UNWATCHED ? null : Number(value);
}

/** A number where it is exact as one. */
function valueOf(bytes: Uint8Array, start: number, end: number): number | bigint {
  let value = 0;
  for (let at = start; at < end; at += 1) value = value * 16 + digitOf(bytes[at] as number);
  return value <= Number.MAX_SAFE_INTEGER ? value : exactValueOf(bytes, start, end);
}

function exactValueOf(bytes: Uint8Array, start: number, end: number): bigint {
  return BigInt(`0x${decodePath(bytes.subarray(start, end))}`);
}

/** A Float, which Ruby prints with its point. */
export class RubyFloat {
  readonly value: number;

  constructor(value: number) {
    this.value = value;
  }

  toString(): string {
    return Number.isInteger(this.value) ? `${this.value}.0` : String(this.value);
  }

  toJSON(): number {
    return this.value;
  }
}

const FLOAT = /^[-+]?(?:\d[\d_,]*)?\.\d*(?:[eE][-+]\d+)?$/;
const INTEGER = /^([-+]?)(?:0b([01_,]+)|0([0-7_,]+)|(0|[1-9](?:\d|,\d|_\d)*)|0x([\da-fA-F_,]+))$/;
const PREFIXES = ['0b', '0o', '', '0x'];
const BASE_60 = /^[-+]?\d[\d_]*(?::[0-5]?\d){1,2}$/;

/** What an unquoted YAML scalar is to Psych (`lib/psych/scalar_scanner.rb`), which reads YAML 1.1; dates stay text. */
export function yamlScalar(text: string): unknown {
  if (/^(?:~|null|)$/i.test(text)) return null;
  if (/^(?:yes|true|on)$/i.test(text)) return true;
  if (/^(?:no|false|off)$/i.test(text)) return false;
  if (/^:./.test(text)) return /^:(["'])(.*)\1/.exec(text)?.[2] ?? text.slice(1);
  if (BASE_60.test(text)) return base60(text);
  if (FLOAT.test(text) && /\d/.test(text)) return new RubyFloat(Number(text.replace(/[_,]/g, '')));
  return integer(text) ?? text;
}

/** Psych counts from hours, also where only hours and minutes are given. */
function base60(text: string): number {
  return text.split(':').reduce((sum, part, index) => sum + Number.parseInt(part, 10) * 60 ** (2 - index), 0);
}

function integer(text: string): number | string | undefined {
  const [, sign, ...digits] = INTEGER.exec(text) ?? [];
  const at = digits.findIndex((found) => found !== undefined);
  const plain = digits[at]?.replace(/[_,]/g, '');
  if (plain === undefined || plain === '') return undefined;
  const value = BigInt(`${PREFIXES[at]}${plain}`) * (sign === '-' ? -1n : 1n);
  return Number.isSafeInteger(Number(value)) ? Number(value) : String(value);
}

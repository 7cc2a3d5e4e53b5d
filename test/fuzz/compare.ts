import { isDeepStrictEqual } from 'node:util';
import type { ConfElement, ConfItem, ConfValue } from '../../src/core/fluent-conf/element.ts';
import { evaluate } from '../../src/core/fluent-conf/ruby.ts';
import { parseConf } from '../../src/core/fluent-conf/syntax.ts';
import { decodePath } from '../../src/core/pos-file/path-bytes.ts';
import { type FluentdReader, markOf, type Tree } from './fluentd-reader.ts';

const UNKNOWN = '(Ruby that posidle does not evaluate)';
const RUBY = { env: { POSIDLE_UNSET: 'set', X: 'x' }, hostname: 'host', workerId: 0 };

/** Whether posidle reads a configuration as Fluentd's own reader does: `equal`, or `refused` by Fluentd, or posidle's problem with it, or what differs. */
export async function compared(fluentd: FluentdReader, input: Buffer): Promise<string> {
  const theirs = await fluentd.read(input);
  const { root, problems } = parseConf(decodePath(input), 'f');
  const [problem] = problems;
  if (theirs === null) return 'refused';
  if (problem !== undefined) return `told: ${problem.text}`;
  const ours = treeOf(root);
  const expected = known(theirs, ours);
  if (isDeepStrictEqual(ours, expected)) return 'equal';
  return `different: posidle ${JSON.stringify(ours)}\n  Fluentd ${JSON.stringify(expected)}`;
}

function treeOf({ name, arg, items }: ConfElement): Tree {
  const params = items.flatMap((item) => (item.kind === 'param' ? [[item.name, textOf(item.value)]] : []));
  return { name, arg: textOf(arg), params: Object.fromEntries(params), sections: items.flatMap(sectionOf) };
}

function sectionOf(item: ConfItem): Tree[] {
  if (item.kind === 'section') return [treeOf(item)];
  return item.kind === 'include'
    ? [{ name: '@include', arg: textOf(item.path), params: {}, sections: [] }]
    : [];
}

function textOf(value: ConfValue): string {
  if (typeof value === 'string') return asJson(value);
  const evaluated = evaluate(value, RUBY);
  if (typeof evaluated === 'object' && evaluated !== null) return UNKNOWN;
  return asJson(value.map((part) => (typeof part === 'string' ? part : markOf(part.ruby))).join(''));
}

/** Leaves out what posidle says it cannot evaluate. No value is an empty one for posidle. */
function known({ name, arg, params, sections }: Tree, ours: Tree): Tree {
  const text = (their: string | null, our: string | null | undefined) =>
    our === UNKNOWN ? UNKNOWN : asJson(their ?? '');
  const values = Object.entries(params).map(([key, value]) => [key, text(value, ours.params[key])]);
  return {
    name,
    arg: text(arg, ours.arg),
    params: Object.fromEntries(values),
    sections: sections.map((section, index) => known(section, ours.sections[index] ?? section)),
  };
}

/** Ruby and JavaScript print numbers in JSON differently. */
function asJson(text: string): string {
  try {
    return /^[[{]/.test(text) ? JSON.stringify(JSON.parse(text)) : text;
  } catch {
    return text;
  }
}

import { isDeepStrictEqual } from 'node:util';
import type { ConfElement, ConfItem, ConfValue } from '../../src/core/fluent-conf/element.ts';
import { evaluate } from '../../src/core/fluent-conf/ruby.ts';
import { parseConf } from '../../src/core/fluent-conf/syntax.ts';
import { decodePath } from '../../src/core/pos-file/path-bytes.ts';
import { mutated, one, randomFrom } from '../support/mutations.ts';
import { FluentdReader, markOf, type Tree } from './fluentd-reader.ts';
import { CONF_WORDS, SECTIONS } from './targets.ts';

const BATCH = 500;
/** Fluentd reads one character after the other. */
const LARGEST = 1_024;
const UNKNOWN = '(Ruby that posidle does not evaluate)';
const RUBY = { env: { POSIDLE_UNSET: 'set', X: 'x' }, hostname: 'host', workerId: 0 };
const MOST_SHOWN = 20;
const TOLD_EVERY = 50_000;

type Answer = 'equal' | 'refused by both' | 'refused by Fluentd only' | `told (${string})` | 'DIFFERENT';

interface Span {
  readonly runs: number;
  /** The number of the first one. Each has the next number. */
  readonly seed: number;
}

/** Whether posidle reads each mutated configuration as Fluentd's own reader does, or says that it cannot. */
export async function compare(version: string, span: Span, tell: (line: string) => void): Promise<boolean> {
  const fluentd = new FluentdReader(version);
  try {
    return await compareWith(fluentd, span, tell);
  } finally {
    fluentd.end();
  }
}

/** The same of whole texts; gives what differs. */
export async function differencesIn(version: string, texts: readonly Buffer[]): Promise<readonly string[]> {
  const fluentd = new FluentdReader(version);
  try {
    const theirs = await fluentd.read(texts);
    const differences: string[] = [];
    for (const [index, text] of texts.entries()) {
      const answer = judged(text, theirs[index] ?? null, (told) => differences.push(told));
      if (answer !== 'equal') differences.push(`${answer}: ${text.toString('latin1').slice(0, 200)}`);
    }
    return differences;
  } finally {
    fluentd.end();
  }
}

async function compareWith(
  fluentd: FluentdReader,
  { runs, seed: first }: Span,
  tell: (line: string) => void,
): Promise<boolean> {
  const counts = new Map<Answer, number>();
  const began = performance.now();
  for (let done = 0; done < runs; ) {
    const seeds = Array.from({ length: Math.min(BATCH, runs - done) }, (_, index) => first + done + index);
    const inputs = seeds.map(inputOf);
    const theirs = await fluentd.read(inputs);
    for (const [index, input] of inputs.entries()) {
      const answer = judged(input, theirs[index] ?? null, (text) => {
        if ((counts.get('DIFFERENT') ?? 0) < MOST_SHOWN) tell(`--seed ${seeds[index]} --runs 1: ${text}`);
      });
      counts.set(answer, (counts.get(answer) ?? 0) + 1);
    }
    done += seeds.length;
    if (done % TOLD_EVERY !== 0 && done < runs) continue;
    const rate = Math.round((1_000 * done) / (performance.now() - began));
    const told = [...counts].map(([answer, count]) => `${count} ${answer}`);
    const last = first + done - 1;
    tell(`${done} configurations (seeds ${first} to ${last}): ${told.join(', ')}; ${rate} a second`);
  }
  return !counts.has('DIFFERENT');
}

function inputOf(seed: number): Buffer {
  const random = randomFrom(seed);
  return mutated(Buffer.from(one(SECTIONS, random), 'latin1'), random, {
    largest: LARGEST,
    words: CONF_WORDS,
  });
}

function judged(input: Buffer, theirs: Tree | null, show: (text: string) => void): Answer {
  const { root, problems } = parseConf(decodePath(input), 'f');
  const [problem] = problems;
  if (theirs === null) return problem === undefined ? 'refused by Fluentd only' : 'refused by both';
  if (problem !== undefined) return `told (${problem.text})`;
  const ours = treeOf(root);
  const expected = known(theirs, ours);
  if (isDeepStrictEqual(ours, expected)) return 'equal';
  const text = JSON.stringify(input.toString('latin1'));
  show(`${text}\n  posidle ${JSON.stringify(ours)}\n  Fluentd ${JSON.stringify(expected)}`);
  return 'DIFFERENT';
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
  return asJson(value.parts.map((part) => (typeof part === 'string' ? part : markOf(part.ruby))).join(''));
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

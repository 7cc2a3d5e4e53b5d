import { parseAst } from 'vitest/node';

/** One small change to a source text, within the expression `of`. */
export interface Mutant {
  readonly start: number;
  readonly end: number;
  readonly to: string;
  readonly of: Span;
}

interface Span {
  readonly start: number;
  readonly end: number;
}

interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly operator?: string;
  readonly value?: unknown;
  readonly left?: Node;
  readonly right?: Node;
  readonly argument?: Node;
  readonly test?: Node;
  readonly expression?: Node;
  readonly callee?: Node;
  readonly object?: Node;
  readonly property?: Node;
  readonly name?: string;
  readonly key?: Node;
  readonly computed?: boolean;
}

const OPPOSITES: Readonly<Record<string, string>> = {
  '<': '<=',
  '<=': '<',
  '>': '>=',
  '>=': '>',
  '===': '!==',
  '!==': '===',
  '&&': '||',
  '||': '&&',
  '+': '-',
  '-': '+',
  '*': '/',
  '/': '*',
};

const OTHER_METHODS: Readonly<Record<string, string>> = {
  some: 'every',
  every: 'some',
  max: 'min',
  min: 'max',
};

/** Types have no effect; of these nodes one part has. */
const WITH_EXPRESSION = new Set(['TSAsExpression', 'TSNonNullExpression', 'TSSatisfiesExpression']);

/** The mutants of a TypeScript file: other operators, numbers, booleans, conditions and methods; nothing filtered; what is done only sometimes never done. */
export function mutantsOf(text: string): readonly Mutant[] {
  const found: Mutant[] = [];
  /** A chain (`a?.b.filter(…)`) is replaced as a whole, or its end would run for an undefined `a`. */
  const visit = (node: Node, chain?: Node): void => {
    const of = chain ?? (node.type === 'ChainExpression' ? node : undefined);
    found.push(...mutantsAt(node, text).map((mutant) => ({ ...mutant, of: of ?? mutant.of })));
    const parts = WITH_EXPRESSION.has(node.type) ? [node.expression] : partsOf(node);
    for (const part of parts)
      if (part !== undefined)
        visit(
          part,
          node.type === 'ChainExpression' || part === node.callee || part === node.object ? of : undefined,
        );
  };
  visit(parseAst(text, { lang: 'ts' }) as unknown as Node);
  return found;
}

/** The text with all its mutants, each behind a switch of its own; the first has this number. */
export function withSwitches(text: string, mutants: readonly Mutant[], first: number): string {
  const numbered = mutants.map((mutant, index) => ({ ...mutant, id: first + index }));
  const render = (from: number, to: number, within: typeof numbered): string => {
    const outer = within.reduce<Span | undefined>(
      (best, { of }) => (best === undefined || isBefore(of, best) ? of : best),
      undefined,
    );
    if (outer === undefined) return text.slice(from, to);
    const isOwn = ({ of }: Mutant) => of.start === outer.start && of.end === outer.end;
    const isIn = ({ of }: Mutant) => of.end <= outer.end;
    const own = within.filter(isOwn).map(({ id, start, end, to }) => {
      const planted = text.slice(outer.start, start) + to + text.slice(end, outer.end);
      return `isMutant(${id}) ? (${planted}) : `;
    });
    const rest = render(
      outer.start,
      outer.end,
      within.filter((one) => isIn(one) && !isOwn(one)),
    );
    const after = render(
      outer.end,
      to,
      within.filter((one) => !isIn(one)),
    );
    return `${text.slice(from, outer.start)}(${own.join('')}(${rest}))${after}`;
  };
  return render(0, text.length, numbered);
}

/** Begins earlier, or there, and ends later. */
function isBefore(one: Span, other: Span): boolean {
  return one.start < other.start || (one.start === other.start && one.end > other.end);
}

function partsOf(node: Node): readonly Node[] {
  if (node.type === 'ImportDeclaration') return [];
  const values: readonly unknown[] = Object.values(node).flat();
  const isKey = (value: unknown) => value === node.key && !node.computed;
  return values.filter((value): value is Node => isNode(value) && !isTypeOnly(value) && !isKey(value));
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value && 'start' in value;
}

function isTypeOnly({ type }: Node): boolean {
  return type.startsWith('TS') && !WITH_EXPRESSION.has(type);
}

function mutantsAt(node: Node, text: string): readonly Mutant[] {
  return [...valuesAt(node, text), ...callsAt(node, text), ...neverAt(node)];
}

function callsAt(of: Node, text: string): readonly Mutant[] {
  const { type, end, callee } = of;
  const { object, property } = callee ?? {};
  if (type !== 'CallExpression' || !object || !property) return [];
  if (property.name === 'filter') return [{ start: startOfLink(text, property), end, to: '', of }];
  const to = OTHER_METHODS[property.name ?? ''];
  return to === undefined ? [] : [{ start: property.start, end: property.end, to, of }];
}

/** The position of `.name` or `?.name`. */
function startOfLink(text: string, { start }: Node): number {
  const dot = text.lastIndexOf('.', start);
  return text[dot - 1] === '?' ? dot - 1 : dot;
}

function neverAt({ type, test }: Node): readonly Mutant[] {
  return type === 'IfStatement' && test ? [{ start: test.start, end: test.end, to: 'false', of: test }] : [];
}

function valuesAt(of: Node, text: string): readonly Mutant[] {
  const { type, start, end, operator = '', left, right, argument, test, value } = of;
  if ((type === 'BinaryExpression' || type === 'LogicalExpression') && left && right) {
    const to = OPPOSITES[operator];
    const at = text.indexOf(operator, left.end);
    const isText = operator === '+' && [left, right].some((side) => typeof side.value === 'string');
    return to === undefined || isText ? [] : [{ start: at, end: at + operator.length, to, of }];
  }
  if (type === 'UnaryExpression' && operator === '!' && argument)
    return [{ start, end, to: text.slice(argument.start, argument.end), of }];
  if (type === 'Literal' && typeof value === 'boolean') return [{ start, end, to: String(!value), of }];
  if (type === 'Literal' && typeof value === 'number') return [{ start, end, to: String(value + 1), of }];
  if (
    test &&
    (test.type === 'Identifier' || test.type === 'CallExpression' || test.type === 'MemberExpression')
  )
    return [{ start: test.start, end: test.end, to: `!(${text.slice(test.start, test.end)})`, of: test }];
  return [];
}

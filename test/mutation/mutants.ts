import { parseAst } from 'vitest/node';

/** One small change to a source text. */
export interface Mutant {
  readonly start: number;
  readonly end: number;
  readonly to: string;
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
  const visit = (node: Node): void => {
    found.push(...mutantsAt(node, text));
    const parts = WITH_EXPRESSION.has(node.type) ? [node.expression] : partsOf(node);
    for (const part of parts) if (part !== undefined) visit(part);
  };
  visit(parseAst(text, { lang: 'ts' }) as unknown as Node);
  return found;
}

function partsOf(node: Node): readonly Node[] {
  if (node.type === 'ImportDeclaration') return [];
  const values: readonly unknown[] = Object.values(node).flat();
  return values.filter((value): value is Node => isNode(value) && !isTypeOnly(value));
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

function callsAt({ type, end, callee }: Node, text: string): readonly Mutant[] {
  const { object, property } = callee ?? {};
  if (type !== 'CallExpression' || !object || !property) return [];
  if (property.name === 'filter') return [{ start: startOfLink(text, property), end, to: '' }];
  const to = OTHER_METHODS[property.name ?? ''];
  return to === undefined ? [] : [{ start: property.start, end: property.end, to }];
}

/** The position of `.name` or `?.name`. */
function startOfLink(text: string, { start }: Node): number {
  const dot = text.lastIndexOf('.', start);
  return text[dot - 1] === '?' ? dot - 1 : dot;
}

function neverAt({ type, test }: Node): readonly Mutant[] {
  return type === 'IfStatement' && test ? [{ start: test.start, end: test.end, to: 'false' }] : [];
}

function valuesAt(node: Node, text: string): readonly Mutant[] {
  const { type, start, end, operator = '', left, right, argument, test, value } = node;
  if ((type === 'BinaryExpression' || type === 'LogicalExpression') && left && right) {
    const to = OPPOSITES[operator];
    const at = text.indexOf(operator, left.end);
    const isText = operator === '+' && [left, right].some((side) => typeof side.value === 'string');
    return to === undefined || isText ? [] : [{ start: at, end: at + operator.length, to }];
  }
  if (type === 'UnaryExpression' && operator === '!' && argument)
    return [{ start, end, to: text.slice(argument.start, argument.end) }];
  if (type === 'Literal' && typeof value === 'boolean') return [{ start, end, to: String(!value) }];
  if (type === 'Literal' && typeof value === 'number') return [{ start, end, to: String(value + 1) }];
  if (
    test &&
    (test.type === 'Identifier' || test.type === 'CallExpression' || test.type === 'MemberExpression')
  )
    return [{ start: test.start, end: test.end, to: `!(${text.slice(test.start, test.end)})` }];
  return [];
}

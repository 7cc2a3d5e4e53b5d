import { expect, test } from 'vitest';
import { type ConfElement, paramOf, sectionsOf } from '../../../src/core/fluent-conf/element.ts';
import { ownEvents } from '../../../src/core/fluent-conf/own-events.ts';
import { Params } from '../../../src/core/fluent-conf/params.ts';
import { parseConf } from '../../../src/core/fluent-conf/syntax.ts';
import { cpuSeconds } from '../../support/cpu-seconds.ts';

const http = (tag: string) => `<match ${tag}>\n@type http\n</match>\n`;
const relabel = (tag: string, label: string) => `<match ${tag}>\n@type relabel\n@label ${label}\n</match>\n`;
const label = (name: string, body: string) => `<label ${name}>\n${body}</label>\n`;

test.each([
  ['the first match that takes them', http('app') + http('**') + http('fluent.**'), [false, true, false]],
  ['each match that takes a level of them', http('fluent.info fluent.warn') + http('fluent.*'), [true, true]],
  [
    'names with a wildcard',
    http('*') + http('a.**') + http('x.fluent.**') + http('*.warn'),
    [false, false, false, true],
  ],
  ['a pattern whose `**` stands for nothing', http('**.fluent.**.warn'), [true]],
  [
    'no pattern that is not read, and the next match',
    http('{a,fluent.**} /fluent/') + http('**'),
    [false, true],
  ],
  ['their own label, and no other match', http('**') + label('@FLUENT_LOG', http('**')), [false, true]],
  [
    'the label that a match hands them to',
    relabel('**', '@A') + label('@A', http('x') + http('**')) + label('@B', http('**')),
    [false, true, false],
  ],
  [
    'each label of a copy',
    `<match **>\n@type copy\n<store>\n@type http\n</store>\n<store>\n@type relabel\n@label @A\n</store>\n</match>\n${label('@A', http('**'))}`,
    [true, true],
  ],
  [
    'labels in a circle, once each',
    relabel('**', '@A') + label('@A', relabel('fluent.info', '@A') + http('**')),
    [true],
  ],
  ['a <worker> section behind the root', `${http('app')}<worker 0>\n${http('**')}</worker>\n`, [false, true]],
])("Fluentd's own events go to %s", (_, text, taken) => {
  const { root, problems } = parseConf(text, 'f.conf');
  expect(problems).toEqual([]);
  const { takers } = takenIn(root);
  const outputs = matchesIn(root).filter((match) => paramOf(match, '@type')?.value !== 'relabel');
  expect(outputs.map((match) => takers.has(match))).toEqual(taken);
});

function takenIn(root: ConfElement) {
  const scope = new Params(root, { ruby: { env: {}, hostname: '' }, problems: [], warnings: [] });
  return ownEvents([scope, ...scope.sections('worker')]);
}

function matchesIn(element: ConfElement): ConfElement[] {
  const inner = sectionsOf(element, 'label', 'worker').flatMap(matchesIn);
  return [...sectionsOf(element, 'match'), ...inner];
}

test.each([
  '*'.repeat(999),
  '*a'.repeat(499),
  '**.'.repeat(333),
  '.**'.repeat(333),
  `x${' '.repeat(200_000)}y`,
  'x'.repeat(1_000_000),
])('a pattern that is made to take long is answered at once', async (pattern) => {
  const { root } = parseConf(http(pattern), 'f.conf');
  const seconds = await cpuSeconds(() => void takenIn(root));
  expect(seconds).toBeLessThan(5);
});

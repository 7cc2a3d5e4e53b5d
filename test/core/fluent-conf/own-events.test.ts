import { expect, test } from 'vitest';
import { fluentConf } from '../../../src/core/fluent-conf/fluent-conf.ts';
import { parseConf } from '../../../src/core/fluent-conf/syntax.ts';

const http = (tag: string) => `<match ${tag}>\n@type http\n</match>\n`;
const relabel = (tag: string, label: string) => `<match ${tag}>\n@type relabel\n@label ${label}\n</match>\n`;
const label = (name: string, body: string) => `<label ${name}>\n${body}</label>\n`;

test.each([
  ['the first match that takes them', http('app') + http('**') + http('fluent.**'), [false, true, false]],
  ['each match that takes a level of them', http('fluent.{info,warn}') + http('fluent.*'), [true, true]],
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
  const { buffers } = fluentConf(root, { env: {}, hostname: '' });
  expect(buffers.map(({ takesOwnEvents }) => takesOwnEvents)).toEqual(taken);
});

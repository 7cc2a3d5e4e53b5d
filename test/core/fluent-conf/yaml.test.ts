import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type ConfElement, paramOf, sectionsOf } from '../../../src/core/fluent-conf/element.ts';
import { evaluate } from '../../../src/core/fluent-conf/ruby.ts';
import { confFromYaml, confFromYamlList, Tagged } from '../../../src/core/fluent-conf/yaml.ts';

const texts = (problems: readonly { text: string }[]) => problems.map(({ text }) => text);

/** The tree of a YAML configuration with these sections. */
const rootOf = (config: unknown) => confFromYaml({ config }, 'f.yaml').root;
const firstIn = (source: object) => sectionsOf(rootOf([{ source }]))[0] as ConfElement;

function shape(element: ConfElement): unknown {
  const params = element.items.flatMap((item) => (item.kind === 'param' ? [[item.name, item.value]] : []));
  return [element.name, element.arg, Object.fromEntries(params), ...sectionsOf(element).map(shape)];
}

describe('a YAML configuration', () => {
  it('is the tree that the v1 syntax gives', () => {
    const config = [
      { source: { $type: 'tail', $id: 'a', $label: '@L', read_from_head: true, parse: { $type: 'none' } } },
      { label: { $name: '@L', config: [{ match: { $tag: ['a', 'b'], $type: 'stdout' } }] } },
      { worker: { $arg: 0, config: [{ filter: { $tag: 'x.**', $type: 'stdout' } }] } },
      { match: { $tag: '**', store: [{ $type: 'null' }, { $type: 'file', buffer: { $arg: 'tag' } }] } },
    ];
    const { root, problems } = confFromYaml({ system: { workers: 2 }, config }, 'f.yaml');
    expect(problems).toEqual([]);
    const params = { '@type': 'tail', '@id': 'a', '@label': '@L', read_from_head: 'true' };
    const file = ['store', '', { '@type': 'file' }, ['buffer', 'tag', {}]];
    expect(sectionsOf(root).map(shape)).toEqual([
      ['system', '', { workers: '2' }],
      ['source', '', params, ['parse', '', { '@type': 'none' }]],
      ['label', '@L', {}, ['match', 'a,b', { '@type': 'stdout' }]],
      ['worker', '0', {}, ['filter', 'x.**', { '@type': 'stdout' }]],
      ['match', '**', {}, ['store', '', { '@type': 'null' }], file],
    ]);
  });

  it('holds Ruby and JSON where a tag says so', () => {
    const source = {
      path: new Tagged('!fluent/s', "/a/#{ENV['X']}"),
      exclude_path: new Tagged('!fluent/json', ['/b']),
      tag: '#{x}',
    };
    const values = ['path', 'exclude_path', 'tag'].map((name) => paramOf(firstIn(source), name)?.value);
    expect(values).toEqual([{ parts: ['/a/', { ruby: "ENV['X']" }], yaml: true }, '["/b"]', '#{x}']);
  });

  it('keeps includes where they stand, also in a list of their own', () => {
    const include = new Tagged('!include', 'more/*.yaml');
    const { items } = rootOf([{ source: {} }, include, [{ match: {} }]]);
    expect(items.map(({ kind }) => kind)).toEqual(['section', 'include', 'section']);
    expect(rootOf(include).items).toMatchObject([{ kind: 'include', path: 'more/*.yaml' }]);
    expect(confFromYamlList([{ source: {} }], 'f.yaml').root.items).toHaveLength(1);
  });

  it('holds a list of plain values as JSON', () => {
    const match = { $tag: '**', paths: ['/a', 1], store: [] };
    expect(sectionsOf(rootOf([{ match }])).map(shape)).toEqual([['match', '**', { paths: '["/a",1]' }]]);
  });

  it('has a nil where nothing is written, and text where Ruby wants the default', () => {
    const ruby = { env: {}, hostname: '' };
    const half = new Tagged('!fluent/s', '#{use_nil}/x');
    const source = { path: null, tag: half, pos_file: new Tagged('!fluent/s', '#{use_default}') };
    const values = ['path', 'tag', 'pos_file'].map((name) => paramOf(firstIn(source), name)?.value);
    expect(values.map((value) => evaluate(value ?? 'missing', ruby))).toEqual([null, '', ':default']);
  });

  const sourceOf = (path: Tagged) => ({ config: [{ source: { path } }] });
  const unknown = new Tagged('!fluent/s', '\\q');
  it.each([
    ['text', 'the document is not a mapping'],
    [{ config: 'text' }, 'config is not a list of sections'],
    [{ config: [1] }, 'an entry of config is not a mapping'],
    [{ config: [{ sauce: {} }] }, 'config has no section sauce'],
    [{ config: [{ match: { store: [{}, 1] } }] }, 'store is not a mapping'],
    [sourceOf(unknown), '\\q is not an escape that Fluentd knows in !fluent/s "\\\\q"'],
    [sourceOf(new Tagged('!include', 'x')), '!include x stands where no list is read'],
  ])('that is wrong is a problem: %j', (document, problem) => {
    expect(texts(confFromYaml(document, 'f.yaml').problems)).toEqual([problem]);
  });

  it('never throws, whatever was loaded', () => {
    const load = (given: unknown) => void confFromYaml({ config: given, system: given }, 'f.yaml');
    fc.assert(fc.property(fc.anything(), load));
    const endless: Record<string, unknown> = {};
    endless.again = endless;
    const { problems } = confFromYaml({ config: [{ source: endless }] }, 'f.yaml');
    expect(texts(problems)).toEqual(['again is nested too deeply']);
  });
});

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type ConfElement, paramOf, sectionsOf } from '../../../src/core/fluent-conf/element.ts';
import { evaluate } from '../../../src/core/fluent-conf/ruby.ts';
import { confFromYaml, confFromYamlList, Tagged } from '../../../src/core/fluent-conf/yaml.ts';

const texts = (problems: readonly { text: string }[]) => problems.map(({ text }) => text);

function shape(element: ConfElement): unknown {
  const params = element.items.flatMap((item) => (item.kind === 'param' ? [[item.name, item.value]] : []));
  return [element.name, element.arg, Object.fromEntries(params), ...sectionsOf(element).map(shape)];
}

describe('a YAML configuration', () => {
  it('is the tree that the v1 syntax gives', () => {
    const { root, problems } = confFromYaml(
      {
        system: { workers: 2 },
        config: [
          {
            source: { $type: 'tail', $id: 'a', $label: '@L', read_from_head: true, parse: { $type: 'none' } },
          },
          { label: { $name: '@L', config: [{ match: { $tag: ['a', 'b'], $type: 'stdout' } }] } },
          { worker: { $arg: 0, config: [{ filter: { $tag: 'x.**', $type: 'stdout' } }] } },
          {
            match: {
              $tag: '**',
              $type: 'copy',
              store: [{ $type: 'null' }, { $type: 'file', buffer: { $arg: 'tag' } }],
            },
          },
        ],
      },
      'f.yaml',
    );
    expect(problems).toEqual([]);
    expect(sectionsOf(root).map(shape)).toEqual([
      ['system', '', { workers: '2' }],
      [
        'source',
        '',
        { '@type': 'tail', '@id': 'a', '@label': '@L', read_from_head: 'true' },
        ['parse', '', { '@type': 'none' }],
      ],
      ['label', '@L', {}, ['match', 'a,b', { '@type': 'stdout' }]],
      ['worker', '0', {}, ['filter', 'x.**', { '@type': 'stdout' }]],
      [
        'match',
        '**',
        { '@type': 'copy' },
        ['store', '', { '@type': 'null' }],
        ['store', '', { '@type': 'file' }, ['buffer', 'tag', {}]],
      ],
    ]);
  });

  it('holds Ruby and JSON where a tag says so', () => {
    const source = {
      path: new Tagged('!fluent/s', "/a/#{ENV['X']}"),
      exclude_path: new Tagged('!fluent/json', ['/b']),
      tag: '#{x}',
    };
    const [element] = sectionsOf(confFromYaml({ config: [{ source }] }, 'f.yaml').root);
    expect(paramOf(element as ConfElement, 'path')?.value).toEqual({
      parts: ['/a/', { ruby: "ENV['X']" }],
      yaml: true,
    });
    expect(paramOf(element as ConfElement, 'exclude_path')?.value).toBe('["/b"]');
    expect(paramOf(element as ConfElement, 'tag')?.value).toBe('#{x}');
  });

  it('keeps includes where they stand, also in a list of their own', () => {
    const include = new Tagged('!include', 'more/*.yaml');
    const { root } = confFromYaml({ config: [{ source: {} }, include, [{ match: {} }]] }, 'f.yaml');
    expect(root.items.map(({ kind }) => kind)).toEqual(['section', 'include', 'section']);
    expect(confFromYaml({ config: include }, 'f.yaml').root.items).toMatchObject([
      { kind: 'include', path: 'more/*.yaml' },
    ]);
    expect(confFromYamlList([{ source: {} }], 'f.yaml').root.items).toHaveLength(1);
  });

  it('holds a list of plain values as JSON', () => {
    const match = { $tag: '**', paths: ['/a', 1], store: [] };
    expect(sectionsOf(confFromYaml({ config: [{ match }] }, 'f.yaml').root).map(shape)).toEqual([
      ['match', '**', { paths: '["/a",1]' }],
    ]);
  });

  it('has a nil where nothing is written, and text where Ruby wants the default', () => {
    const ruby = { env: {}, hostname: '' };
    const half = new Tagged('!fluent/s', '#{use_nil}/x');
    const source = { path: null, tag: half, pos_file: new Tagged('!fluent/s', '#{use_default}') };
    const [element] = sectionsOf(confFromYaml({ config: [{ source }] }, 'f.yaml').root);
    const values = ['path', 'tag', 'pos_file'].map((name) => paramOf(element as ConfElement, name)?.value);
    expect(values.map((value) => evaluate(value ?? 'missing', ruby))).toEqual([null, '', ':default']);
  });

  it.each([
    ['text', ['the document is not a mapping']],
    [{ config: 'text' }, ['config is not a list of sections']],
    [{ config: [1] }, ['an entry of config is not a mapping']],
    [{ config: [{ sauce: {} }] }, ['config has no section sauce']],
    [{ config: [{ match: { store: [{}, 1] } }] }, ['store is not a mapping']],
    [
      { config: [{ source: { path: new Tagged('!fluent/s', '\\q') } }] },
      ['\\q is not an escape that Fluentd knows in !fluent/s "\\\\q"'],
    ],
    [
      { config: [{ source: { path: new Tagged('!include', 'x') } }] },
      ['!include x stands where no list is read'],
    ],
  ])('that is wrong is a problem: %j', (document, problems) => {
    expect(texts(confFromYaml(document, 'f.yaml').problems)).toEqual(problems);
  });

  it('never throws, whatever was loaded', () => {
    fc.assert(
      fc.property(
        fc.anything(),
        (document) => void confFromYaml({ config: document, system: document }, 'f.yaml'),
      ),
    );
    const endless: Record<string, unknown> = {};
    endless.again = endless;
    expect(texts(confFromYaml({ config: [{ source: endless }] }, 'f.yaml').problems)).toEqual([
      'again is nested too deeply',
    ]);
  });
});

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isDone, parseReport, type Report } from '../../../src/core/witness/answer.ts';
import { progressFromWitnesses } from '../../../src/core/witness/reports.ts';
import { answer, holding, output, sight } from '../../support/said.ts';

const FULL = answer({
  files: [sight({ unfinished: 3 })],
  closed: [sight({ reader: 'in', followed: true })],
  cuts: [sight({ had: 100 })],
  starts: [{ path: '/log/b.log', inode: 8, pos: 5, size: 9, print: 1, born: 1 }],
  lost: [{ path: '/log/c.log', why: 'closed' }],
  unfound: [{ path: '/log/d.log', inode: 9, size: 30, at: 5_000 }],
  denied: ['/private'],
  siblings: [{ path: '/log/a.log.1', inode: 6, size: 10, plain: 100, cuts: [0], at: 5_000 }],
  kept: [{ class: 'Fluent::Plugin::ConcatFilter', n: 1 }],
  outputs: [holding('a', 'b'), output({ n: 6 })],
  plugins: [{ class: 'Fluent::Plugin::TailInput', settings: { multiline_mode: true, list: [] } }],
  messages: [{ level: 'warn', file: 'fluent/match.rb', text: 'no patterns matched', n: 2 }],
  ends: [holding('c')],
  resumed: ['c'],
  sigterm: false,
  error: 'not traced: rotates',
  gap: 1.5,
  unknown: 'a field of a later version',
});
const text = (changed: object = {}) => JSON.stringify({ ...FULL, ...changed });
const EVEN_DEEPER = 200_000;

describe('an answer', () => {
  test('is taken field by field, without the unknown ones', () => {
    const said = parseReport(text());
    expect(said).toMatchObject({
      pid: 12,
      ignoresSigterm: true,
      isReady: true,
      error: 'not traced: rotates',
      gap: 1_500,
      files: [{ path: '/log/a.log', inode: '7', position: 100, size: 100, unfinished: 3, lines: 0 }],
      outputs: [
        { id: 'out', chunks: 2, bytes: 20, ids: ['a', 'b'] },
        { buffer: 'there', chunks: 6 },
      ],
    });
    expect(said).not.toHaveProperty('unknown');
  });

  test('is not believed without the number of lines, which tells what has moved, but for a last report', () => {
    expect(parseReport(text({ lines: undefined }))).toHaveProperty('notBelieved');
    expect(parseReport(text({ lines: undefined, final: true }))).not.toHaveProperty('notBelieved');
  });

  test('is not believed with a followed file that has no inode number', () => {
    const file = { path: '/log/a.log', reader: 'in', at: 0, pos: 1 };
    expect(parseReport(text({ files: [file] }))).toHaveProperty('notBelieved');
    expect(parseReport(text({ files: [{ ...file, inode: 9 }] }))).not.toHaveProperty('notBelieved');
  });

  test('counts what is unread of a lost file, and as nothing what it does not know', () => {
    const sizes = [{ size: 10, pos: 4 }, { size: 10, pos: 12 }, { pos: 4 }];
    const { lost } = parseReport(
      text({ lost: sizes.map((one) => ({ path: '/log/c.log', why: 'closed', ...one })) }),
    ) as Report;
    expect(lost.map(({ bytes }) => bytes)).toEqual([6, 0, 0]);
  });

  test('tells in milliseconds after how many seconds a plugin emits what it keeps', () => {
    const kept = [60, 0, undefined].map((emits) => ({ class: 'Fluent::Plugin::ConcatFilter', n: 1, emits }));
    const said = parseReport(text({ kept })) as Report;
    expect(said.kept.map(({ emitsAfter }) => emitsAfter)).toEqual([60_000, undefined, undefined]);
  });

  test('tells files with one inode number on two volumes apart', () => {
    const file = { path: '/log/d.log', inode: 9, reader: 'in', at: 0 };
    const { unfound } = parseReport(text({ unfound: [file, { ...file, dev: 2 }] })) as Report;
    expect(unfound.map(({ key }) => key)).toEqual(['in 9', 'in 9 2']);
  });

  test('tells two inode numbers apart that JavaScript would round to one', () => {
    const numbers = ['12345678901234567890', '12345678901234567891'];
    const file = { path: '/log/d.log', reader: 'in', at: 0, pos: 1 };
    const said = text({ files: numbers.map((inode) => ({ ...file, inode })) });
    const { files } = parseReport(said.replace(/"inode":"(\d+)"/g, '"inode":$1')) as Report;
    expect(files.map(({ inode, key }) => [inode, key])).toEqual(numbers.map((one) => [one, `in ${one}`]));
  });

  test.each([
    ['nothing', '', 'it is no JSON'],
    ['half of one', text().slice(0, 40), 'it is no JSON'],
    ['brackets without end', '['.repeat(EVEN_DEEPER), 'it is no JSON'],
    ['a list', '[]', 'an object is missing in it'],
    ['another version', text({ v: 2 }), 'its version is 2, not 1'],
    ['no version', text({ v: undefined }), 'a number is missing in it'],
    ['a version that is no number', '{"v":{"toString":0}}', 'a number is missing in it'],
    ['an error', '{"v":1,"error":"NoMethodError"}', 'NoMethodError'],
    ['a long error', `{"v":1,"error":"${'x'.repeat(4_097)}"}`, 'x'.repeat(4_096)],
    ['a list that is missing', text({ files: undefined }), 'a list is missing in it'],
    ['a list that is missing in a list', text({ siblings: [{ path: '/' }] }), 'a list is missing in it'],
    [
      'a list that is inherited',
      `{"v":1,"pid":1,"ready":true,"__proto__":${text()}}`,
      'a list is missing in it',
    ],
    ['too long a list', text({ denied: Array(25_001).fill('/') }), 'a list in it has more than 25000 items'],
    ['a text that is a number', text({ denied: [1] }), 'a text is missing in it'],
    ['a number that is a text', text({ again: 'x' }), 'a number is missing in it'],
    ['a number beyond all numbers', '{"v":1,"pid":1e999}', 'a number is missing in it'],
  ])('that is %s is not believed, and says why', (_, text, notBelieved) => {
    expect(parseReport(text)).toEqual({ notBelieved });
  });

  test('is believed with the longest list, and with anything in an unknown field', () => {
    const deep = `${'['.repeat(EVEN_DEEPER)}${']'.repeat(EVEN_DEEPER)}`;
    const said = parseReport(text({ denied: Array(25_000).fill('/') }).replace('{', `{"unknown":${deep},`));
    expect(said).toMatchObject({ pid: 12 });
  });

  test('is either typed or not believed, and never an error', () => {
    const valid = text();
    const full = Object.entries(parseReport(valid));
    const anything = fc.oneof(fc.string(), fc.json());
    const replaced = fc.tuple(fc.nat(250), fc.jsonValue()).map(([at, value]) => {
      let left = at;
      return JSON.stringify(JSON.parse(valid, (_, old) => (left-- === 0 ? value : old)));
    });
    let believed = 0;
    fc.assert(
      fc.property(fc.oneof(anything, replaced), (text) => {
        const said = parseReport(text);
        if ('notBelieved' in said) {
          expect(said.notBelieved).toBeTypeOf('string');
          return;
        }
        believed += 1;
        for (const [name, usual] of full) {
          const value = said[name as keyof Report];
          expect([typeof usual, 'undefined']).toContain(typeof value);
          expect(Array.isArray(value)).toBe(Array.isArray(usual));
        }
        progressFromWitnesses({ at: 0, witnesses: [{ worker: '1-12.sock', kind: 'alive', report: said }] });
      }),
      { numRuns: 1_000 },
    );
    expect(believed).toBeGreaterThan(0);
  });
});

test('an answer may leave all out while Fluentd starts, and a last report its lists', () => {
  expect(parseReport('{"v":1,"pid":12,"ready":false}')).toMatchObject({ pid: 12, isReady: false, files: [] });
  const last = parseReport('{"v":1,"pid":12,"final":true,"messages":[],"ends":[]}');
  expect(last).toMatchObject({ isFinal: true, closed: [] });
});

test.each([
  ['{"v":1,"done":"flush","sent":1}', true],
  ['{"v":1,"error":"not ready"}', false],
  ['{"v":1}', false],
  ['', false],
])('an order that is answered with %j is done: %s', (text, done) => {
  expect(isDone(text)).toBe(done);
});

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseAnswer, parseDone, parseLastWord, type Said } from '../../../src/core/witness/answer.ts';
import { LONGEST_ANSWER } from '../../../src/core/witness/bounded-answer.ts';
import { answer, holding, output, sight } from '../../support/said.ts';

const text = (changed: object) => JSON.stringify(answer(changed));
const crowd = (most: number) => `a list in it has more than ${most} items`;
const parsed = (changed: object) => parseAnswer(text(changed));

describe('an answer', () => {
  test('is taken field by field', () => {
    const said = parsed({
      files: [sight({ unfinished: 3 })],
      outputs: [holding('a', 'b'), output({ n: 6 })],
      gap: 1.5,
      unknown: 'a field of a later version',
    });
    expect(said).toMatchObject({
      pid: 12,
      supervisor: 11,
      isReady: true,
      gap: 1_500,
      files: [{ path: '/log/a.log', inode: '7', position: 100, size: 100, unfinished: 3, lines: 0 }],
      outputs: [{ id: 'out', chunks: 2, bytes: 20, ids: ['a', 'b'] }, { chunks: 6 }],
    });
  });

  test('has at most 50 settings of a plugin, and only those that are plain values', () => {
    const settings = Object.fromEntries(Array.from({ length: 60 }, (_, n) => [`s${n}`, n]));
    const said = parsed({ plugins: [{ class: 'Filter', settings: { list: [], ...settings } }] }) as Said;
    const kept = said.plugins.flatMap((plugin) => Object.keys(plugin.settings));
    expect(kept).toEqual(Object.keys(settings).slice(0, 50));
  });

  test.each([
    ['nothing', '', 'it is no JSON'],
    ['half of one', text({}).slice(0, 40), 'it is no JSON'],
    ['a list', '[]', 'an object is missing in it'],
    ['another version', text({ v: 2 }), 'its version is 2, not 1'],
    ['a long version', `{"v":"${'x'.repeat(21)}"}`, `its version is "${'x'.repeat(19)}, not 1`],
    ['a version that is no text', '{"v":{"toString":0}}', 'its version is {"toString":0}, not 1'],
    ['an error', '{"v":1,"error":"NoMethodError"}', 'NoMethodError'],
    ['a long error', `{"v":1,"error":"${'x'.repeat(4_097)}"}`, 'x'.repeat(4_096)],
    ['a list that is missing', text({ files: undefined }), 'a list is missing in it'],
    ['a list that is missing in a list', text({ siblings: [{ path: '/' }] }), 'a list is missing in it'],
    ['a list that is too long', text({ denied: Array(5_001).fill('/') }), crowd(5_000)],
    ['a list of too many files', text({ files: Array(25_001).fill({}) }), crowd(25_000)],
    ['nested deeply between brackets that close', '[[]'.repeat(12), 'it is nested too deeply'],
    ['a number that is a text', text({ again: 'x' }), 'a number is missing in it'],
    ['a number beyond all numbers', '{"v":1,"pid":1e999}', 'a number is missing in it'],
    ['brackets without end', '['.repeat(900_000), 'it is nested too deeply'],
    ['too long', `"${'x'.repeat(LONGEST_ANSWER - 1)}"`, 'it is longer than 16.0 MiB'],
  ])('that is %s is not believed, and says why', (_, text, notBelieved) => {
    expect(parseAnswer(text)).toEqual({ notBelieved });
  });

  test('is no error, whatever it is', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json()), (text) => {
        expect(parseAnswer(text)).toHaveProperty('notBelieved');
      }),
    );
  });

  test('with any field replaced by anything is believed or not, and never an error', () => {
    fc.assert(
      fc.property(fc.constantFrom(...Object.keys(answer())), fc.jsonValue(), (name, value) => {
        expect(parseAnswer(text({ [name]: value }))).toBeTypeOf('object');
      }),
    );
  });

  test.each([
    ['as deep as it may be', '['.repeat(12) + ']'.repeat(12), 'an object is missing in it'],
    ['of as many fields as it may have', `[${'10,'.repeat(399_999)}0]`, 'an object is missing in it'],
    ['of one field more', `[${'10,'.repeat(400_000)}0]`, 'it has more than 400000 fields'],
  ])('is parsed where it is %s, and no further', (_, text, notBelieved) => {
    expect(parseAnswer(text)).toEqual({ notBelieved });
  });

  test.each([
    ['has lists of 5,000 items', Array(5_000).fill('/')],
    ['has brackets inside a text, which is not deep,', ['/"', '/[{'.repeat(100), '/[{"'.repeat(100)]],
  ])('that %s is believed', (_, denied) => {
    expect(parsed({ denied })).toMatchObject({ pid: 12 });
  });
});

test('an answer may leave all out while Fluentd starts, and a last word its lists', () => {
  expect(parseAnswer('{"v":1,"pid":12,"ready":false}')).toMatchObject({ pid: 12, isReady: false, files: [] });
  const last = parseLastWord('{"v":1,"pid":12,"final":true,"heard":[],"ends":[]}');
  expect(last).toMatchObject({ isFinal: true, closed: [] });
});

test.each([
  ['{"v":1,"done":"flush","sent":1}', undefined],
  ['{"v":1,"error":"not ready"}', 'not ready'],
  ['', 'it is no JSON'],
])('an order that is answered with %j: %s', (text, why) => {
  expect(parseDone(text)).toBe(why);
});

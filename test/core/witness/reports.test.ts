import { describe, expect, test } from 'vitest';
import {
  isAnswered,
  isComplete,
  progressFromWitnesses,
  type Witness,
  withLastAnswers,
} from '../../../src/core/witness/reports.ts';
import { cpuSeconds } from '../../support/cpu-seconds.ts';
import { holding, output, sight } from '../../support/said.ts';
import { alive as aliveWith, gone as goneWith, SILENT } from '../../support/witnesses.ts';

/** Without a file, and the one that is gone was born before. */
const alive = (changed: object = {}, worker?: string) => aliveWith({ files: [], ...changed }, worker);
const gone = (changed: object = {}, worker = '0-9.sock') =>
  goneWith({ pid: 9, closed: [], ...changed }, worker);
const progress = (...witnesses: readonly Witness[]) => progressFromWitnesses({ at: 1, witnesses });
const left = (...witnesses: readonly Witness[]) => progress(...witnesses).left;
const doubts = (...witnesses: readonly Witness[]) => progress(...witnesses).doubts;
const kinds = (...witnesses: readonly Witness[]) => doubts(...witnesses).map(({ kind }) => kind);

describe('what is left', () => {
  const unreadable = sight({ pos: 0, readable: false });
  test('is nothing where every file is read and every buffer is empty', () => {
    const outputs = [output(), output({ id: 'copy', class: 'Fluent::Plugin::CopyOutput', n: null })];
    const none = {
      left: [],
      doubts: [],
      files: 1,
      outputs: [{ output: 'out (Fluent::Plugin::HTTPOutput)' }],
    };
    expect(progress(alive({ files: [sight()], outputs }))).toMatchObject(none);
  });

  const other = { path: '/log/b', size: 9 };
  const closed = { ...other, readable: false };
  const inLog = (kind: string, bytes: number, path = '/log/a.log') => ({ kind, path, bytes });
  const kept = (where: string, records: number) => ({ kind: 'kept', where, records });
  const half = sight({ pos: 90, unfinished: 10 });
  const held = { kind: 'held', output: 'out (Fluent::Plugin::HTTPOutput)', isOwn: false, next: 'flush' };
  test.each([
    ['a file that is not found', { unfound: [other] }, inLog('unfound', 9, '/log/b')],
    ['a file that Fluentd may not read', { unfound: [closed] }, inLog('unreadable', 9, '/log/b')],
    ['one unread byte', { files: [sight({ pos: 99 })] }, inLog('unread', 1)],
    ['one byte that in_tail let go unread', { closed: [sight({ pos: 99 })] }, inLog('let-go', 1)],
    ['lines that were read and not emitted', { files: [sight({ lines: 2 })] }, inLog('unread', 0)],
    ['a last line without a newline', { files: [half] }, inLog('unfinished', 10)],
    [
      'a last line of a file that Fluentd followed to its end',
      { closed: [{ ...half, followed: true }] },
      inLog('unfinished', 10),
    ],
    ['a last line of a file that in_tail let go', { closed: [half] }, inLog('let-go', 10)],
    ['a file that was cut, until Fluentd notices,', { files: [sight({ size: 10 })] }, inLog('unread', 10)],
    ['a followed file that Fluentd may not read', { files: [unreadable] }, inLog('unreadable', 100)],
    [
      'a file that was let go and that Fluentd may not read',
      { closed: [unreadable] },
      inLog('unreadable', 100),
    ],
    ['a multiline record', { files: [sight({ record: 1 })] }, kept('the multiline source of /log/a.log', 1)],
    ['records in a filter', { kept: [{ class: 'Concat', n: 2 }] }, kept('Concat', 2)],
    ['chunks', { outputs: [holding('a')] }, { ...held, chunks: 1, bytes: 10, ids: ['a'] }],
  ])('is %s', (_, changed, one) => {
    expect(left(alive(changed))).toEqual([one]);
  });

  test('is nothing that could be named of a file that is gone with all its lines emitted', () => {
    expect(left(alive({ files: [sight({ size: null })] }))).toEqual([]);
    expect(left(alive({ files: [sight({ size: null, lines: 1 })] }))).toMatchObject([{ kind: 'unread' }]);
  });

  test('is not what another worker reads on', () => {
    expect(left(gone({ closed: [sight({ pos: 40 })] }), alive({ files: [sight({ pos: 100 })] }))).toEqual([]);
    expect(left(alive({ closed: [sight({ pos: 40 })], files: [sight({ pos: 100 })] }))).toEqual([]);
    const unfound = gone({ unfound: [{ path: '/log/a.log', inode: 7, size: 100 }] });
    expect(left(unfound, alive({ files: [sight()] }))).toEqual([]);
    expect(left(unfound, alive())).toMatchObject([{ kind: 'unfound' }]);
  });

  test('is not what a worker reads on that was born before one that ended', () => {
    const young = gone({ closed: [sight({ pos: 40 })] }, '2-13.sock');
    const unfound = gone({ unfound: [{ path: '/log/a.log', inode: 7, size: 100, at: 5_000 }] }, '2-13.sock');
    const later = [sight({ at: 6_000 })];
    for (const one of [young, unfound])
      for (const old of [alive({ files: later }), gone({ closed: later })])
        expect(left(old, one)).toEqual([]);
    const earlier = gone({ closed: [sight({ at: 4_000 })] });
    for (const one of [young, unfound]) expect(left(earlier, one)).toHaveLength(1);
  });

  test('is told once of a file that a worker closed with an unfinished line and did not find again', () => {
    const unfound = [{ path: '/log/a.log', inode: 7, size: 100, at: 9_000 }];
    expect(left(gone({ closed: [{ ...half, followed: true }], unfound }))).toEqual([inLog('unfinished', 10)]);
  });

  test('is no file that an ended worker never found, if one before it had read the same bytes', () => {
    const before = gone({ closed: [sight({ pos: 40, size: 40, print: 5 })] }, '1-9.sock');
    const unfound = { path: '/log/a.log', inode: 7, size: 40, print: 5, at: 9_000 };
    const other = gone({ closed: [sight({ pos: 60, size: 60, print: 7 })] });
    for (const earlier of [[before], [before, other]])
      expect(left(...earlier, gone({ closed: [], unfound: [unfound] }))).toEqual([]);
    expect(left(before, gone({ closed: [], unfound: [{ ...unfound, print: 6 }] }))).toEqual([
      inLog('unfound', 40),
    ]);
  });

  test('is what one input has not read, however far another one has read the same file', () => {
    const [first, second] = ['/a.pos', '/b.pos'].map((reader, n) => ({ pos: 100 - 60 * n, reader }));
    const unread = { path: '/log/a.log', bytes: 60 };
    const letGo = [{ kind: 'let-go', ...unread }];
    expect(left(alive({ closed: [sight(first), sight(second)] }))).toEqual(letGo);
    expect(left(gone({ closed: [sight(second)] }), alive({ files: [sight(first)] }))).toEqual(letGo);
    const next = alive({ files: [sight({ ...second, pos: 100 })] });
    expect(left(gone({ closed: [sight(second)] }), next)).toEqual([]);
    expect(progress(next, alive({ files: [sight(first)] }, '2-13.sock')).files).toBe(1);
  });

  const ended = (...ids: readonly string[]) => gone({ ends: [holding(...ids)] });
  const two = holding('a', 'b');
  test.each<[string, readonly (readonly string[])[], readonly Witness[]]>([
    ['all that an ended worker held', [['a', 'b']], [ended('a', 'b'), alive()]],
    ['but for what the next one took over', [['b']], [ended('a', 'b'), alive({ resumed: ['a'] })]],
    ['nothing where that took all over', [], [ended('a'), alive({ resumed: ['a'] })]],
    ['nothing where one that was born before took it over', [], [alive({ resumed: ['a'] }), ended('a')]],
    [
      'nothing where one that lives took over what another one had ended with',
      [],
      [alive({ resumed: ['a'] }), gone({ resumed: ['a'], ends: [holding('a')] })],
    ],
    ['nothing of one that lives: it tells of them by its outputs', [], [alive({ ends: [holding('a')] })]],
    ['all of several buffers', [['a'], ['b']], [gone({ ends: [holding('a'), holding('b')] })]],
    ['nothing of an empty buffer', [], [gone({ ends: [output({ bytes: 5 })] })]],
    ['all that one which ended later did not take over', [['a']], [ended('a'), gone()]],
    [
      'once what one had after the other',
      [['a']],
      [ended('a'), gone({ resumed: ['a'], ends: [holding('a')] })],
    ],
    ['but for what a later buffer took over', [['b']], [gone({ ends: [{ ...two, chunks: ['b'] }] })]],
    ['nothing where a later buffer took all over', [], [gone({ ends: [{ ...two, chunks: [] }] })]],
  ])('of closed buffers is %s', (_, buffers, witnesses) => {
    const all = buffers.map((ids) => ({ kind: 'held', chunks: ids.length, ids }));
    expect(left(...witnesses)).toMatchObject(all);
  });

  test('of a closed buffer may have no name', () => {
    const unnamed = gone({ ends: [{ ...holding('a'), chunks: null }] });
    expect(left(unnamed)).toMatchObject([{ kind: 'held', chunks: 1, ids: undefined }]);
  });

  test('doubted where a worker without a last report may have read it, or taken it over', () => {
    const both = gone({ closed: [sight({ pos: 40 })], ends: [holding('a')] });
    expect(left(both, SILENT)).toEqual([]);
    const why = expect.stringMatching(/what it left: .*\[let-go\]; .* holds 1 chunk .*\[held\]$/);
    expect(doubts(both, SILENT)).toMatchObject([
      { kind: 'no-answer' },
      { kind: 'worker-died', bytes: 70, why },
    ]);
    expect(left(SILENT, both)).toMatchObject([{ kind: 'let-go' }, { kind: 'held' }]);
    expect(doubts(both)).toEqual([]);
  });

  test('a buffer that a reload ended is doubted, whether the worker lives or not, until another one takes its chunks over', () => {
    const ends = [{ ...holding('a'), reloaded: true }];
    for (const one of [alive({ ends }), gone({ ends })]) {
      expect(left(one)).toEqual([]);
      expect(doubts(one)).toMatchObject([
        { kind: 'reloaded', why: expect.stringMatching(/with 1 chunk in it/) },
      ]);
      expect(doubts(one, alive({ resumed: ['a'] }))).toEqual([]);
    }
    expect(doubts(alive({ ends: [{ ...holding(), reloaded: true }] }))).toEqual([]);
  });

  test('a buffer that a reload ended is doubted, too, where this worker had taken its chunk over from an earlier one', () => {
    const before = gone({ ends: [holding('a')] });
    const reloaded = { resumed: ['a'], ends: [{ ...holding('a'), reloaded: true }] };
    for (const one of [alive(reloaded), gone(reloaded, '1-12.sock')])
      expect(doubts(before, one)).toMatchObject([{ kind: 'reloaded' }]);
  });
});

test("a worker's position in a file that was truncated since does not count for the next worker", () => {
  const before = gone({ closed: [sight({ pos: 500, size: 500 })] });
  expect(left(before, alive({ closed: [sight({ pos: 40, size: 60, at: 6_000 })] }))).toEqual([
    { kind: 'let-go', path: '/log/a.log', bytes: 20 },
  ]);
});

test('how far a file was read since a time counts by the time of each report, not by the age of its worker', () => {
  const closed = (at: number, pos: number, size = pos) => gone({ closed: [sight({ at, pos, size })] });
  expect(left(closed(6_000, 40), closed(5_000, 100), closed(5_500, 20, 60))).toEqual([
    { kind: 'let-go', path: '/log/a.log', bytes: 20 },
  ]);
});

describe('a doubt', () => {
  const sibling = { siblings: [{ path: '/log/a.log.1', size: 1, cuts: [] }] };
  const message = (n: number) => ({ level: 'warn', file: 'x.rb', text: 'a new message', n });
  const logged = (n: number) => ({ messages: [message(n)] });
  const begun = { path: '/log/a.log', inode: 7, pos: 40, born: 10 };

  test('about a sibling is none where its path matches, and it is told as not found', () => {
    const file = { path: '/log/a.log.1', inode: 8, size: 9, at: 6_000 };
    const worker = alive({ unfound: [file], siblings: [{ ...file, cuts: [] }] });
    expect(kinds(worker)).toEqual([]);
    expect(left(worker)).toMatchObject([{ kind: 'unfound', path: file.path }]);
  });

  test('about a sibling is removed by another worker that has read it', () => {
    const UNSEEN = ['nobody-saw-it-read'];
    const unread = (changed = {}) =>
      alive({ siblings: [{ path: '/log/a.log.1', inode: 7, size: 100, cuts: [], ...changed }] });
    expect(kinds(gone(), unread())).toEqual(UNSEEN);
    expect(kinds(gone({ closed: [sight()] }), unread())).toEqual([]);
    // A file on another volume has the same inode number.
    expect(kinds(gone({ closed: [sight({ dev: 1 })] }), unread({ dev: 2 }))).toEqual(UNSEEN);
    for (const dev of [2, undefined])
      expect(kinds(gone({ closed: [sight({ dev })] }), unread({ dev: 2 }))).toEqual([]);
    // The last look at that inode number was at 5,000: a file that was written later is another one.
    expect(kinds(gone({ closed: [sight()] }), unread({ at: 5_000 }))).toEqual([]);
    expect(kinds(gone({ closed: [sight()] }), unread({ at: 5_001 }))).toEqual(UNSEEN);
  });

  test.each([
    ['witness-failed', { error: 'not traced: warn' }],
    ['not-looked', { gap: 5.001 }],
    ['forgotten', { more: 1 }],
    ['cut-short-unread', { cuts: [sight({ had: 120 })] }, { bytes: 20 }],
    ['cut-short-unread', { closed: [sight({ size: 10 })] }, { bytes: 10 }],
    ['cut-short-unread', { cuts: [sight({ had: 100, lines: 1 })] }],
    ['cut-short-unread', { cuts: [sight({ had: 100, unfinished: 1 })] }],
    ['written-anew', { lost: [{ path: '/log/a.log', why: 'written anew' }] }],
    ['never-followed', { lost: [{ path: '/log/b', why: 'never followed' }] }],
    [
      'never-followed',
      { lost: [10, 20].map((size) => ({ path: '/log/b', why: 'never followed', size })) },
      { bytes: 30, why: 'Fluentd never followed it (2 files of this name)' },
    ],
    [
      'nobody-saw-it-read',
      { ...sibling, lost: [{ ...sibling.siblings[0], path: '/log/a.log', why: 'never followed' }] },
      { about: sibling.siblings[0]?.path },
    ],
    ['never-followed', { lost: [{ path: '/log/b', why: 'constructor' }] }],
    ['closed-unread', { files: [sight({ size: null })] }],
    ['closed-unread', { lost: [{ path: '/log/a.log', why: 'closed' }] }],
    ['cut-short-unread', { starts: [{ path: '/log/a.log', inode: 7, pos: 40, size: 39 }] }, { bytes: 39 }],
    ['read-from', { pod: 10, starts: [begun] }],
    ['read-from', { pod: 20, starts: [{ ...begun, written: 20 }] }],
    ['nobody-saw-it-read', sibling],
    ['directory-closed', { denied: ['/log/d/'] }, { why: 'Fluentd may not list or enter it' }],
    ['directory-closed', { denied: ['/log/d'] }, { why: 'it is a link that Fluentd cannot follow' }],
    ['logged', logged(1)],
    ['may-hold', { plugins: [{ class: 'Fluent::Plugin::UnheardOfFilter', settings: {} }] }],
    [
      'no-ack',
      { outputs: [output({ class: 'Fluent::Plugin::ForwardOutput' })] },
      {
        about: 'out_forward',
        why: expect.stringMatching(/^no destination .*: set require_ack_response true$/),
      },
    ],
  ])('is %s', (kind, changed, more: object = {}) => {
    expect(doubts(alive(changed))).toMatchObject([{ kind, ...more }]);
  });

  test("is not copytruncate's copy: written just before the cut, and no longer than what had been read", () => {
    const cut = sight({ had: 100, at: 70_000, print: 5 });
    const copy = { path: '/log/a.log.1', size: 100, at: 69_000, cuts: [0] };
    const unread = (...siblings: readonly object[]) =>
      doubts(alive({ cuts: [cut], siblings })).map(({ about }) => about);
    expect(unread(copy)).toEqual([]);
    for (const at of [10_000, 71_000]) expect(unread({ ...copy, at })).toEqual([]);
    expect(unread({ ...copy, path: '/log/a.log.1.gz', size: 30, plain: 100 })).toEqual([]);
    for (const other of [{ size: 101 }, { at: 9_999 }, { at: 71_001 }, { plain: 101 }, { cuts: [1] }])
      expect(unread({ ...copy, ...other })).toEqual(['/log/a.log.1']);
    expect(unread(copy, { ...copy, path: '/log/a.log.2' })).toEqual(['/log/a.log.2']);
  });

  const read = (more = {}) => sight({ head: 3, ...more });
  const packed = { path: '/log/a.log.1.gz', size: 30, plain: 100, head: 3, at: 0, cuts: [] };

  test('is not a compressed file of the length and beginning of a log that was read and is gone', () => {
    const unread = (closed: object, sibling = {}) =>
      doubts(alive({ files: [], closed: [read(closed)], siblings: [{ ...packed, ...sibling }] })).length;
    expect(unread({})).toBe(0);
    expect(unread({}, { head: 4 })).toBe(1);
    expect(unread({ head: undefined }, { head: undefined })).toBe(1);
    expect(unread({}, { plain: 99 })).toBe(1);
    expect(unread({ pos: 99, size: 99 })).toBe(1);
    expect(unread({ size: 101 })).toBe(1);
  });

  test('tells how often Fluentd logged it, where that was more than once', () => {
    const [once, thrice] = [1, 3].map((n) => doubts(alive(logged(n)))[0]?.why);
    expect(once).toBe('Fluentd logged (warn): a new message');
    expect(thrice).toBe('Fluentd logged 3 times (warn): a new message');
  });

  test('is not the packed form of a file that was read and is gone, one for each', () => {
    const siblings = [packed, { ...packed, path: '/log/a.log.2.gz' }];
    const unread = (...closed: readonly object[]) =>
      doubts(alive({ closed, siblings })).map(({ about }) => about);
    expect(unread(read())).toEqual(['/log/a.log.2.gz']);
    expect(unread(read(), read({ inode: 8 }))).toEqual([]);
    // Two inputs have read the same file.
    expect(unread(read(), read({ reader: '/b.pos' }))).toEqual(['/log/a.log.2.gz']);
  });

  test('is not a file that the worker before has explained, and that lies there as it did', () => {
    const cut = sight({ had: 100, at: 70_000, print: 5 });
    const copy = { path: '/log/a.log.2', inode: 9, size: 100, at: 69_000, cuts: [] };
    const before = {
      closed: [read()],
      cuts: [cut],
      siblings: [{ ...copy, path: '/log/a.log.1', cuts: [0] }],
    };
    const unread = (sibling: object) => doubts(gone(before), alive({ siblings: [sibling] })).length;
    expect(unread(copy)).toBe(0);
    expect(unread({ ...copy, size: 101 })).toBe(1);
    expect(unread({ ...packed, inode: 10 })).toBe(0);
  });

  const reader = '/a.pos';
  const start = { path: '/log/a.log', inode: 7, reader, pos: 40, size: 40, born: 10, print: 5 };
  const closed = sight({ reader, pos: 40, size: 40, print: 5, born: 10, followed: true });
  const last = { readers: [reader], closed: [closed] };
  const none = { readers: [reader], files: [] };
  const next = { ...none, files: [sight({ reader, born: 10 })] };
  const renamed = { path: '/log/a.log.1', inode: 7, born: 10, size: 40, cuts: [] };

  test.each<[string, string, object]>([
    ['is read on', '', { ...next, starts: [start] }],
    ['was written anew', 'written-anew', { ...next, starts: [{ ...start, print: 6 }] }],
    ['is gone', 'closed-unread', none],
    ['gave its inode number away', 'closed-unread', { ...none, files: [sight({ reader, born: 20 })] }],
    ['is gone before all has started', 'not-started', { ...none, ready: false }],
    ['was renamed', '', { ...none, siblings: [renamed] }],
    ['was renamed and grew', 'nobody-saw-it-read', { ...none, siblings: [{ ...renamed, size: 41 }] }],
    [
      'gave its inode number to a sibling',
      'closed-unread nobody-saw-it-read',
      { ...none, siblings: [{ ...renamed, born: 20 }] },
    ],
    ['is to be found', '', { ...none, unfound: [start] }],
    ['was closed again', '', { ...none, closed: [sight({ reader, born: 10 })] }],
    ['is gone from another input', '', { readers: ['/b.pos'] }],
  ])('of a file that %s between two workers is "%s"', (_, told, said) => {
    expect(kinds(gone(last), alive(said)).join(' ')).toBe(told);
  });

  test('of a file that is gone needs a worker that has ended, and one that follows it', () => {
    expect(kinds(gone(), gone(last), alive(none))).toEqual(['closed-unread']);
    expect(kinds(alive(last), alive(none))).toEqual([]);
    expect(kinds(gone(last))).toEqual([]);
  });

  test('of a worker that begins behind the last position of the one before is "read-from"', () => {
    const skipped = { ...start, pos: 50, size: 50 };
    const [before, after] = [gone({ ...last, pod: 20 }), alive({ ...next, pod: 20, starts: [skipped] })];
    expect(kinds(before, after)).toEqual(['read-from']);
  });

  test('is no file that the next worker never followed, if this one had read the same bytes', () => {
    const read = sight({ pos: 40, size: 40, print: 5 });
    const lost = { path: '/log/a.log', inode: 7, size: 40, print: 5, why: 'never followed' };
    const told = (changed = {}) =>
      kinds(gone({ closed: [read] }), alive({ lost: [{ ...lost, ...changed }] }));
    expect(told()).toEqual([]);
    for (const never of [{ size: 41 }, { print: 6 }, { print: null }, { inode: 8 }])
      expect(told(never)).toEqual(['never-followed']);
    expect(told({ why: 'written anew' })).toEqual(['written-anew']);
  });

  test('is a witness that does not answer, and a worker that ended without a last report', () => {
    expect(doubts(SILENT)).toMatchObject([
      { kind: 'no-answer', why: expect.stringMatching(/did not answer/) },
    ]);
    // Where the directory cannot be opened.
    expect(doubts({ ...SILENT, worker: '/a-1/w' })).toMatchObject([{ about: 'worker (/a-1/w)' }]);
    for (const died of [{ worker: 'w', kind: 'gone', report: undefined } as const, gone({ final: false })])
      expect(kinds(died, alive())).toEqual(['worker-died']);
  });

  test.each<[string, Witness]>([
    ['died', { worker: 'w', kind: 'gone', report: undefined }],
    ['falls silent', { ...SILENT, worker: 'w' }],
  ])('of a worker that %s names what it had when it last answered', (_, next) => {
    const had = { at: 0, witnesses: [alive({ outputs: [holding('a')] }, 'w')] };
    const after = withLastAnswers({ at: 1, witnesses: [next] }, had);
    for (const reports of [after, withLastAnswers({ at: 2, witnesses: [next] }, after)])
      expect(progressFromWitnesses(reports)).toMatchObject({
        left: [],
        doubts: [{ bytes: 10, why: expect.stringMatching(/When it last answered: out .* holds 1 chunk/) }],
      });
  });

  test.each([
    ['a witness that looked often enough', [alive({ gap: 5 })]],
    ['a start within a file that is older than the Pod', [alive({ pod: 20, starts: [begun] })]],
    [
      'a start at the end of what was written before the Pod',
      [alive({ pod: 20, starts: [{ ...begun, written: 19 }] })],
    ],
    [
      'a start where the worker before had come to',
      [
        gone({ closed: [sight({ pos: 40, size: 40, born: 10 })] }),
        alive({ starts: [begun], files: [sight()] }),
      ],
    ],
  ])('is not %s', (_, witnesses) => {
    expect(doubts(...witnesses)).toEqual([]);
  });
});

test('what a worker said before is kept for one that says nothing now', () => {
  const had = {
    at: 5,
    witnesses: [alive({}, 'w'), alive({}, 'other'), alive({ outputs: [holding('a')] }, 'third')],
  };
  const now = [alive({}, 'w'), { ...SILENT, worker: 'other' }, gone({}, 'third')];
  const after = withLastAnswers({ at: 9, witnesses: now }, had);
  const [lives, silent, ended] = after.witnesses;
  expect(lives).toStrictEqual(alive({}, 'w'));
  expect(silent).not.toHaveProperty('aliveAt');
  expect(progress(ended as Witness).doubts).toEqual([]);
});

describe('nobody may have read what came after the end of a worker', () => {
  const followed = (...witnesses: readonly Witness[]) =>
    progressFromWitnesses({ at: 100, witnesses }).followedUntil;
  const ended = (changed: object): Witness => ({ ...gone({ readers: ['a'], ...changed }), aliveAt: 10 });

  test('that had an input which no other one has', () => {
    expect(followed(ended({}), alive())).toBe(10);
    expect(followed(ended({}), alive({ readers: ['a'] }))).toBe(100);
  });

  test('unless it had never begun to read', () => {
    expect(followed(ended({ ready: false }), alive())).toBe(100);
  });
});

test("the kubelet's SIGTERM stops no Fluentd if a living worker says so", () => {
  const ignores = (...witnesses: readonly Witness[]) => progress(...witnesses).ignoresSigterm;
  expect(ignores(alive({ sigterm: false }), alive({ sigterm: true }, '2-13.sock'))).toBe(true);
  expect(ignores(alive({ sigterm: true }))).toBe(false);
  expect(ignores(gone({ sigterm: false }))).toBe(false);
});

test('nothing was read if no worker has ever started its inputs, or read a line with the first of them', () => {
  const left = (...witnesses: readonly Witness[]) => progress(...witnesses).left;
  const early = gone({ ready: false });
  const unstarted = (where: string) => [{ kind: 'unstarted', where }];
  expect(left(early)).toEqual(unstarted('worker (pid 9)'));
  expect(left(early, alive({ ready: false }, '2-13.sock'))).toEqual(unstarted('worker (pid 13)'));
  expect(left(gone({}, '1-10.sock'), alive({ ready: false }))).toEqual([]);
  expect(left(early, alive())).toEqual([]);
  expect(left(early, alive({ ready: false, lines: 1 }))).toEqual([]);
});

test('the version changes with each line that is read, and with old lines that come into a new chunk', () => {
  const version = (changed: object) => progress(alive(changed)).version;
  const before = version({ lines: 4 });
  expect(version({ lines: 4, outputs: [holding('a')] })).toBe(before);
  // A file that is made later may get the inode number, and the place, of one that was read.
  expect(version({ lines: 4, files: [], closed: [sight()] })).toBe(before);
  expect(version({ lines: 5 })).not.toBe(before);
  expect(version({ lines: 4, again: 1 })).not.toBe(before);
});

test('reports are whole where each worker that lives has answered', () => {
  expect(isAnswered({ at: 1, witnesses: [alive(), gone()] })).toBe(true);
  const failed = alive({ error: 'its look failed' });
  for (const witnesses of [[], [alive(), gone({ final: false })], [alive(), SILENT], [alive(), failed]])
    expect(isAnswered({ at: 1, witnesses })).toBe(false);
  expect(isComplete({ at: 1, witnesses: [] })).toBe(false);
});

describe('an answer of anybody who may write one takes a second at most', () => {
  const many = <One>(one: (at: number) => One) => Array.from({ length: 25_000 }, (_, at) => one(at));
  const ids = many((at) => `chunk ${at}`);
  const files = many((at) => sight({ at }));
  test.each<[string, readonly Witness[]]>([
    ['if it follows one file 25,000 times', [alive({ files: many(() => sight()) })]],
    ['if it closed one file 25,000 times', [alive({ closed: files })]],
    ['if it missed one file 25,000 times', [gone({ closed: files }), gone({ unfound: files }, '1-9.sock')]],
    [
      'if 25,000 chunks were taken over',
      [gone({ ends: [holding(...ids)] }), gone({ resumed: ids, ends: [holding(...ids)] }, '1-9.sock')],
    ],
    [
      'if a reload ended 25,000 chunks ten times',
      [alive({ ends: Array(10).fill({ ...holding(...ids), reloaded: true }), resumed: ids })],
    ],
    [
      'if 25,000 siblings are packed, and no closed file fits',
      [
        alive({
          closed: many((inode) => sight({ inode })),
          siblings: many((inode) => ({ path: '/s', inode: -inode, size: 9, plain: 9, cuts: [], at: 5_000 })),
        }),
      ],
    ],
    [
      'if it is the last report of each of 1,000 workers',
      Array.from({ length: 1_000 }, (_, at) =>
        gone({ closed: files.slice(0, 40).map((file) => ({ ...file, inode: at })) }),
      ),
    ],
  ])('%s', async (_, witnesses) => {
    expect(await cpuSeconds(() => progress(...witnesses))).toBeLessThan(3);
  });
});

import { expect, test } from 'vitest';
import { DEFAULT_TAIL } from '../../src/core/fluent-conf/facts.ts';
import { observeLate, observeNothing } from '../../src/core/observe/late-look.ts';
import { parseAnswer, parseLastWord, type Said } from '../../src/core/witness/answer.ts';
import { ofTestimony, type Witness } from '../../src/core/witness/testimony.ts';
import { LOG, POS, posText, run } from '../support/builders.ts';
import { FakeHost } from '../support/fake-host.ts';
import { answer, holding, output, sight } from '../support/said.ts';

const WITNESS = '/posidle';
const WORKER = '1-12.sock';

function alive(changed: object = {}): Witness {
  const said = parseAnswer(JSON.stringify(answer({ files: [sight()], ...changed }))) as Said;
  return { worker: WORKER, kind: 'alive', said };
}

function gone(changed: object = {}): Witness {
  const said = parseLastWord(
    JSON.stringify({ v: 1, pid: 12, final: true, closed: [sight()], ...changed }),
  ) as Said;
  return { worker: WORKER, kind: 'gone', said };
}

/** A Fluentd in another container, of which only the witness tells, and what it is told. */
function remote(says: Witness, onTold: (word: string, host: FakeHost) => Witness) {
  const host = new FakeHost();
  const told: string[] = [];
  host.appendLog(LOG, 'one line\n');
  const inode = host.files.get(LOG)?.inode ?? '';
  host.writeFile(POS, posText([{ path: LOG, position: 9, inode }]));
  host.witnesses = [says];
  host.onWitnessTold = (_, word) => {
    told.push(`${word} @${Math.round(host.now())}`);
    host.witnesses = [onTold(word, host)];
    return undefined;
  };
  return { host, told };
}

const drainIn = (host: FakeHost, by: 'done-file' | 'SIGTERM' = 'done-file') =>
  run(
    host.at(5_000, (h) => h.request(by)),
    { quiet: 'off' },
    { witness: WITNESS },
  );

test('where nothing is left, Fluentd is told to stop as soon as main has ended, and nothing is flushed', async () => {
  const { host, told } = remote(alive(), () => gone());
  const { outcome } = await drainIn(host);
  expect(told).toHaveLength(1);
  expect(Number(told[0]?.split('@')[1])).toBeLessThanOrEqual(5_100);
  expect(outcome).toMatchObject({ end: 'stopped', drained: 'drained', gate: null, doubts: [] });
});

test('after SIGTERM, which does not say that main has ended, it is waited for `settle`', async () => {
  const { host, told } = remote(alive(), () => gone());
  await drainIn(host, 'SIGTERM');
  expect(Number(told[0]?.split('@')[1])).toBeGreaterThanOrEqual(7_000);
});

test('what a buffer holds is flushed, and waited for until the very chunks are gone', async () => {
  const { host, told } = remote(alive({ outputs: [holding('a')] }), (word, world) => {
    if (word === 'stop') return gone({ ends: [holding('c')] });
    // Another source feeds the same output.
    world.at(world.now() + 3_000, (h) => {
      h.witnesses = [alive({ outputs: [holding('b')] })];
    });
    return alive({ outputs: [holding('a', 'b')] });
  });
  const { outcome } = await drainIn(host);
  expect(told.map((one) => one.split(' ')[0])).toEqual(['flush', 'stop']);
  expect(Number(told[1]?.split('@')[1])).toBeGreaterThanOrEqual(8_000);
  expect(outcome).toMatchObject({ drained: 'drained' });
});

test('what its buffers still held as they closed is not drained', async () => {
  const { host } = remote(alive(), () =>
    gone({ closed: [sight({ pos: 120, size: 120 })], ends: [holding('b')] }),
  );
  const { outcome } = await drainIn(host);
  expect(outcome).toMatchObject({ drained: 'not drained', left: { held: { chunks: 1, bytes: 10 } } });
});

test('a worker without a last word makes it unproven', async () => {
  const { host } = remote(alive(), () => ({ worker: WORKER, kind: 'gone', said: undefined }));
  const { outcome } = await drainIn(host);
  expect(outcome).toMatchObject({ drained: 'unproven', doubts: [{ kind: 'worker-died' }] });
});

test('a file that Fluentd has not found is waited for until the limit, and named', async () => {
  const { host } = remote(alive({ unfound: [{ path: '/log/new.log', size: 30 }] }), () =>
    gone({ unfound: [{ path: '/log/new.log', size: 30 }] }),
  );
  const { outcome } = await drainIn(host);
  expect(outcome).toMatchObject({
    drained: 'not drained',
    left: { files: 1, bytes: 30, worst: [{ path: '/log/new.log', state: 'unfound' }] },
  });
});

test('an unfinished last line keeps nobody waiting, and is left', async () => {
  const unfinished = sight({ pos: 90, unfinished: 10 });
  const { host, told } = remote(alive({ files: [unfinished] }), () => gone({ closed: [unfinished] }));
  const { outcome } = await drainIn(host);
  expect(Number(told[0]?.split('@')[1])).toBeLessThanOrEqual(5_200);
  expect(outcome).toMatchObject({
    drained: 'not drained',
    left: { worst: [{ lag: 10, state: 'unfinished' }] },
  });
});

test('a silent witness is a doubt, and the drain goes on by what is seen from outside', async () => {
  const host = new FakeHost().at(20_000, (h) => h.request('SIGTERM'));
  const fluentd = host.startFluentd();
  host.appendLog(LOG, 'one line\n');
  fluentd.read(LOG);
  host.witnesses = [{ worker: WORKER, kind: 'silent', why: 'its witness did not answer within 2 s' }];
  const { outcome } = await run(host, {}, { witness: WITNESS });
  expect(outcome).toMatchObject({ end: 'stopped', drained: 'unproven', doubts: [{ kind: 'no-answer' }] });
});

test('what a witness said before a look that never ended proves nothing', () => {
  const now = { at: 0, fluentd: { kind: 'absent', why: 'gone' }, requests: [] } as const;
  const rules = { settle: 0, parent: false, tail: DEFAULT_TAIL };
  const testimony = { at: 0, witnesses: [alive()] };
  const before = {
    ...observeNothing(now, rules),
    witness: { testimony, progress: ofTestimony(testimony), isWhole: true },
  };
  expect(observeLate(before, now, { posFiles: [POS] }).witness).toBeUndefined();
});

test('a Fluentd of another user is waited for until its witness listens', async () => {
  const host = new FakeHost().at(5_000, (h) => h.request('done-file'));
  const fluentd = host.startFluentd({ permitted: false });
  host.appendLog(LOG, 'one line\n');
  fluentd.read(LOG);
  host.at(2_000, (h) => {
    h.witnesses = [alive()];
  });
  host.onWitnessTold = () => {
    host.witnesses = [gone()];
    for (const pid of [...host.processes.keys()]) host.processes.delete(pid);
    return undefined;
  };
  const { outcome } = await run(host, { quiet: 'off' }, { witness: WITNESS });
  expect(outcome).toMatchObject({ end: 'stopped', drained: 'drained' });
});

test('an output without a buffer is no reason to wait', async () => {
  const { host, told } = remote(alive({ outputs: [output({ stage: undefined, chunks: undefined })] }), () =>
    gone(),
  );
  await drainIn(host);
  expect(told).toHaveLength(1);
});

import { describe, expect, test } from 'vitest';
import { Collector } from '../../src/daemon/collect.ts';
import { ABSENT, POS, posText, subject } from '../support/builders.ts';
import { FakeHost } from '../support/fake-host.ts';
import { alive } from '../support/witnesses.ts';

const LOOK = { fluentd: ABSENT, sign: 'unknown', question: 'look' } as const;
const LISTENING = { ...LOOK, sign: 'listening' } as const;

test('a look is dated, and holds fluentd and the requests so far', async () => {
  const host = new FakeHost();
  host.writeFile(POS, posText([]));
  await host.sleep(2_000);
  host.request('SIGINT');
  expect(await new Collector(host, subject()).look('light', LOOK)).toEqual({
    lookedAt: 2_000,
    at: 2_000,
    posFiles: [{ path: POS, kind: 'empty' }],
    looks: new Map(),
    depth: 'light',
    followed: [],
    source: 'outside',
    reports: undefined,
    buffers: undefined,
    mains: undefined,
    fluentd: ABSENT,
    requests: [{ by: 'SIGINT', at: 2_000 }],
  });
});

describe('only a full look asks for', () => {
  const depths = ['light', 'all'] as const;

  test('is what buffers hold', async () => {
    const collector = new Collector(new FakeHost(), subject());
    const looks = await Promise.all(depths.map((depth) => collector.look(depth, LOOK)));
    const unseen = ['all buffers: no fluent.conf is known'];
    expect(looks.map(({ buffers }) => buffers?.unseen)).toEqual([undefined, unseen]);
  });

  test('is the witness; that there is one is enough at rest', async () => {
    const host = new FakeHost();
    host.witnesses = [alive()];
    const collector = new Collector(host, subject({ witness: '/posidle' }));
    const looks = await Promise.all(depths.map((depth) => collector.look(depth, LISTENING)));
    expect(looks.map(({ source }) => source)).toEqual(['witness', 'witness']);
    expect(looks.map(({ reports }) => reports?.witnesses)).toEqual([undefined, host.witnesses]);
  });
});

test('no witness is asked where there is none, or where none is looked for', async () => {
  const host = new FakeHost();
  const look = (witness?: string) => new Collector(host, subject({ witness })).look('all', LOOK);
  expect(await look('/posidle')).toMatchObject({ source: 'outside', reports: undefined });
  host.witnesses = [alive()];
  expect(await look()).toMatchObject({ source: 'outside', reports: undefined });
});

test('main is looked for among the processes, where it is named, and known when it becomes another program', async () => {
  const host = new FakeHost();
  const collector = new Collector(host, subject({ doneProcess: 'main.jar' }));
  const pids = async () => (await collector.look('light', LOOK)).mains?.map(({ pid }) => pid);
  host.startProcess({ pid: 500, argv: ['sh', '-c', 'exec java -jar main.jar'] });
  expect(await pids()).toEqual([500]);
  host.startProcess({ pid: 500, argv: ['java', 'Main'] });
  host.startProcess({ pid: 501, argv: ['java', 'Main'] });
  expect(await pids()).toEqual([500]);
  host.endProcess(500);
  host.startProcess({ pid: 500, argv: ['java', 'Main'], startTime: 'later' });
  expect(await pids()).toEqual([]);
});

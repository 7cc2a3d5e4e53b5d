import { describe, expect, test } from 'vitest';
import { LogReporter } from '../../../src/commands/drain-report/report.ts';
import type { Policy } from '../../../src/core/drain/policy.ts';
import type { Subject } from '../../../src/core/look/subject.ts';
import { runLoop } from '../../../src/daemon/loop.ts';
import type { Log } from '../../../src/node/output/logger.ts';
import { busyHost } from '../../daemon/busy-host.ts';
import { confOf, LOG, POS, policy, posText, subject } from '../../support/builders.ts';
import { FakeHost } from '../../support/fake-host.ts';
import { alive, SILENT } from '../../support/witnesses.ts';

/** The log of a world until its end: `info: waiting → watching: …`. */
async function logged(
  host: FakeHost,
  changes: Partial<Policy> = {},
  about: Partial<Subject> = {},
): Promise<readonly string[]> {
  const lines: string[] = [];
  const lineOf = (level: string) => [level, (_: object, text: string) => lines.push(`${level}: ${text}`)];
  const log = Object.fromEntries(['info', 'warn', 'error'].map(lineOf)) as Log;
  const rules = policy(changes);
  const report = new LogReporter(log, rules, about.witness);
  await runLoop(host, {
    subject: subject({ conf: confOf([LOG]), ...about }),
    policy: rules,
    report,
  });
  return lines;
}

/** A Fluentd that reads nothing from here to there, though a line comes. */
function blockedHost(from: number, to: number) {
  const { host, fluentd } = busyHost();
  host.at(from, () => {
    fluentd.reads = false;
    host.appendLog(LOG, 'left\n');
  });
  return host.at(to, () => {
    fluentd.reads = true;
    fluentd.read(LOG);
  });
}

/** One that has 10,000 bytes to read from the 10th second on, and reads 100 in a second. */
function slowHost(by: 'done-file' | 'SIGTERM') {
  const { host, fluentd } = busyHost();
  fluentd.reads = false;
  host.appendLog(LOG, `${'x'.repeat(9_999)}\n`);
  const begin = 11;
  for (let second = 1; second <= 100; second += 1)
    host.at(10_000 + second * 1_000, () => fluentd.setPosition(LOG, begin + second * 100));
  host.at(10_000, () => host.request(by));
  return host;
}

describe('once a minute the log tells', () => {
  test('how quiet it has been, of how long', async () => {
    const { host } = busyHost();
    for (let line = 1; line <= 50; line += 1)
      host.at(line * 3_000, () => host.appendLog(LOG, `line ${line}\n`));
    const lines = (await logged(host)).filter((line) => line.startsWith('info: quiet'));
    const told = lines.map((line) => / for (.*) of 60 s$/.exec(line)?.[1]?.replace(/\d/g, 'n'));
    expect(told).toEqual(['n.n s', 'n.n s', 'nn s']);
  });

  test('that no trigger has come, and what is left to read', async () => {
    const host = blockedHost(30_000, 70_000).at(70_000, (h) => h.request('http'));
    expect(await logged(host, { quiet: 'off' })).toContain('info: no trigger for 60 s; 5 B left to read');
  });

  test('nothing of a wait that is over', async () => {
    const { host } = busyHost();
    const lines = await logged(
      host.at(30_000, (h) => h.request('done-file')),
      { quiet: 'off' },
    );
    expect(lines.filter((line) => line.startsWith('info: no trigger'))).toEqual([]);
  });

  test('the reason of the wait at the start, and its length', async () => {
    const lines = await logged(new FakeHost());
    expect(lines.filter((line) => line.startsWith('info: still'))).toHaveLength(10);
    expect(lines).toContainEqual(
      expect.stringMatching(`^info: pos file ${POS} is not there yet. .* volume mounted here`),
    );
    const still = /^info: still waiting after 2 min of 10 min: posidle sees no process of fluentd: /;
    expect(lines).toContainEqual(expect.stringMatching(still));
  });
});

test('a blocked file is reported once, with possible causes', async () => {
  const blocked = (await logged(blockedHost(10_000, 40_000))).filter((line) => line.includes('is blocked'));
  const told = `^warn: ${LOG} is blocked: 5 B left, and the position does not move. The cause may be a full buffer`;
  expect(blocked).toEqual([expect.stringMatching(told)]);
});

test('a pos file that disappears is reported once, with the consequence', async () => {
  const { host } = busyHost();
  host.at(10_000, () => host.files.delete(POS));
  host.at(40_000, () => host.request('SIGTERM'));
  const doubts = (await logged(host)).filter((line) => line.startsWith('warn: pos file'));
  expect(doubts).toEqual([`warn: pos file ${POS} is not there. Until that changes, nothing counts as read`]);
});

test('many pos files that are not there are one line with their number', async () => {
  const posFiles = [POS, ...Array.from({ length: 13 }, (_, at) => `/none/${at}.pos`)];
  const host = busyHost().host.at(5_000, (h) => h.request('SIGTERM'));
  const told = (await logged(host, {}, { posFiles })).filter((line) => line.includes('pos file'));
  expect(told).toEqual([
    expect.stringMatching(/^info: pos file \/none\/0.pos \(and 12 more\) is not there yet\./),
  ]);
});

test('looks that are late now and then are reported once', async () => {
  const host = blockedHost(10_000, 60_000).at(10_000, (h) => h.request('done-file'));
  const { readFile } = host;
  for (const from of [20_000, 35_000]) {
    host.at(from, (h) => {
      h.readFile = (path) =>
        new Promise((resolve) => h.at(from + 8_000, () => resolve(readFile.call(h, path))));
    });
    host.at(from + 8_000, (h) => {
      h.readFile = readFile;
    });
  }
  const late = (await logged(host)).filter((line) => line.includes('in time'));
  expect(late).toEqual([
    expect.stringMatching(/^warn: posidle could not look in time: there are very many files/),
  ]);
});

test('a pos file that in_tail makes shorter is no news', async () => {
  const { host } = busyHost();
  const inode = host.files.get(LOG)?.inode ?? '';
  const entry = { path: LOG, position: 11, inode };
  host.writeFile(POS, posText([entry, { path: '/gone.log', position: null, inode: 9 }]));
  host.at(10_000, (h) => h.writeFile(POS, posText([entry])));
  expect((await logged(host)).filter((line) => line.startsWith('warn'))).toEqual([]);
});

test("main's process is named by its pid, so that a wrong one can be told", async () => {
  const { host } = busyHost();
  for (const pid of [41, 43]) host.startProcess({ pid, argv: ['java', 'main.jar'] });
  host.at(20_000, (h) => h.request('done-file'));
  const lines = await logged(host, { quiet: 'off', doneProcess: true }, { doneProcess: 'main.jar' });
  expect(lines).toContain("info: posidle sees main's process (pid 41, 43)");
});

test('a witness that does not answer is named, and neither files nor machine nor mount', async () => {
  const host = blockedHost(10_000, 15_000);
  host.witnesses = [alive()];
  host.at(10_000, (h) => {
    h.request('done-file');
    let takes = 2_000;
    h.askWitnesses = () => {
      const end = h.now() + takes;
      takes = 4_000;
      return new Promise((resolve) => h.at(end, () => resolve({ at: h.now(), witnesses: [SILENT] })));
    };
  });
  const warnings = (await logged(host, {}, { witness: '/posidle' })).filter((line) =>
    line.startsWith('warn'),
  );
  expect(warnings.toSorted()).toEqual([
    "warn: posidle could not look in time: Fluentd's witness does not answer. Until that changes, nothing counts as read",
    'warn: worker (pid 12): its witness did not answer within 2 s. Is Fluentd stopped, or short of CPU?',
  ]);
});

test.each([
  ['is reported when the drain begins, with the remedy', '/posidle', [/ RUBYOPT="-I\/posidle\/ruby -renum/]],
  ['is no concern where run gives Fluentd its own, or the user wants none', undefined, []],
])('a missing witness %s', async (_, witness, told) => {
  const lines = await logged(busyHost().host, {}, { witness });
  const warned = lines.filter((line) => line.startsWith('warn: no witness listens in '));
  expect(warned).toEqual(told.map((text) => expect.stringMatching(text)));
});

test('names one of several blocked files, and counts the others', async () => {
  const { host, fluentd } = busyHost();
  const logs = Array.from({ length: 25 }, (_, index) => `/var/log/${index}.log`);
  for (const log of logs) host.writeFile(log, 'line\n');
  for (const log of logs) fluentd.setPosition(log, 0);
  fluentd.reads = false;
  host.at(30_000, (h) => h.request('SIGTERM'));
  const told = /^warn: \/var\/log\/0\.log is blocked: 5 B left, .* So are 24 more files\. The cause may be/;
  const blocked = (await logged(host)).filter((line) => line.includes('is blocked'));
  expect(blocked).toEqual([expect.stringMatching(told)]);
});

describe('once the end has begun, the log tells', () => {
  test('the bytes that are left, at 5, 10, 20, 40 and 80 s', async () => {
    const lines = (await logged(slowHost('done-file'))).filter((line) => line.includes('still draining'));
    expect(lines.map((line) => line.replace(/ of .*/, ''))).toEqual(
      ['5.0 s', '10 s', '20 s', '40 s', '80 s'].map((span) => `info: still draining after ${span}`),
    );
    expect(lines[2]).toMatch(
      / after 20 s of 5 min: \/var\/log\/app\.log: not read to its end \(7\.[89] KiB\) \[unread\]$/,
    );
  });

  test('that Fluentd still runs', async () => {
    const { host } = busyHost({ stopTakes: 12_000 });
    const lines = await logged(host);
    expect(lines).toContain('info: still stopping after 10 s of 2 min: fluentd runs: pid 4242, 1 worker');
  });

  test('nothing of what the outcome will say', async () => {
    const gone = (await logged(busyHost().host)).filter((line) => line.includes('gone'));
    expect(gone).toEqual([]);
  });
});

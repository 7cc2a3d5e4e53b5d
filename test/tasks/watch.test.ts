import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { afterEach, describe, expect, test, vi } from 'vitest';
import type { Outcome } from '../../src/core/drain/outcome.ts';
import type { Policy } from '../../src/core/drain/policy.ts';
import type { DrainRequest } from '../../src/core/progress/drain-request.ts';
import { NodeHost } from '../../src/node/node-host.ts';
import { Parent } from '../../src/tasks/parent.ts';
import { planWatch, type WatchPlan, type WatchReporter, watchFluentd } from '../../src/tasks/watch.ts';
import type { WatchOptions } from '../../src/tasks/watch-options.ts';
import { tempDir } from '../support/temp-dir.ts';
import { until } from '../support/until.ts';

const at = tempDir();

afterEach(() => {
  vi.restoreAllMocks();
});

const nothing = () => {};
const SILENT: WatchReporter = {
  ...{ transition: nothing, looked: nothing, performed: nothing, warned: nothing },
  ended: async () => {},
};

/** Other tests run Fluentds on this machine. */
const alone = () => Object.assign(new NodeHost(), { listProcesses: async () => [] });

async function watched(options: WatchOptions, parent?: Parent, host: NodeHost = alone(), report = SILENT) {
  return await watchFluentd(host, options, await planWatch(host, options, parent), report, parent);
}

interface Begun extends WatchPlan {
  readonly calls: readonly DrainRequest['by'][];
}

/** How a watch begins with these options, up to its first look. */
async function begun(options: WatchOptions): Promise<Begun> {
  const host = alone();
  const plan = await planWatch(host, options);
  const enough = new Error('enough');
  let calls: Begun['calls'] = [];
  const looked = () => {
    calls = host.requests().map(({ by }) => by);
    throw enough;
  };
  await expect(watchFluentd(host, options, plan, { ...SILENT, looked })).rejects.toThrow(enough);
  return { ...plan, calls };
}

type Decisions = Pick<Policy, Exclude<keyof WatchOptions & keyof Policy, 'doneProcess'>>;
/** A non-default value for each setting of the policy. A new setting needs a row. */
const DECISIONS: Decisions = {
  quiet: 1,
  startTimeout: 3,
  drainTimeout: 4,
  grace: 5,
  stopTimeout: 6,
  podEnds: true,
};

/** For each other setting, a value and the effect that shows that it counts. */
const EFFECTS: Record<Exclude<keyof WatchOptions, keyof Decisions>, () => Promise<void>> = {
  posFiles: async () => {
    expect((await begun({ posFiles: [at('a.pos')] })).found.posFiles).toEqual([at('a.pos')]);
  },
  fluentConf: async () => {
    const conf = `<source>\n@type tail\npath /a\npos_file ${at('b.pos')}\n</source>\n`;
    writeFileSync(at('f.conf'), conf);
    const { found } = await begun({ fluentConf: at('f.conf') });
    expect(found).toMatchObject({ posFiles: [at('b.pos')], confPath: at('f.conf') });
  },
  doneFile: async () => {
    writeFileSync(at('done'), '');
    expect((await begun({ posFiles: [at('a.pos')], doneFile: at('done') })).calls).toEqual(['done-file']);
  },
  doneProcess: async () => {
    const options = { posFiles: [at('a.pos')], doneProcess: 'main' };
    expect(await begun(options)).toMatchObject({
      policy: { doneProcess: true, quiet: 'off' },
      armed: ["main's process (main) has been gone for 2.0 s"],
    });
  },
  heartbeatFile: async () => {
    const options = { posFiles: [at('a.pos')], heartbeatFile: at('beat') };
    expect(await begun(options)).toMatchObject({
      policy: { quiet: 'off' },
      armed: [`${at('beat')} has not been refreshed for 15 s`],
    });
  },
  mainGone: async () => {
    const triggers = { quiet: 30_000, doneFile: at('done'), heartbeatFile: at('beat'), doneProcess: 'main' };
    const { armed, policy } = await begun({ posFiles: [at('a.pos')], ...triggers, mainGone: 20_000 });
    expect(armed).toEqual([
      'nothing has moved for 30 s',
      `${at('done')} exists`,
      "main's process (main) has been gone for 20 s",
      `${at('beat')} has not been refreshed for 20 s`,
    ]);
    expect(policy).toMatchObject({ doneProcessGone: 20_000 });
  },
  witness: async () => {
    const script = `#!/bin/sh\necho "$RUBYOPT $POSIDLE_DIR" > ${at('words')}\n`;
    writeFileSync(at('fluentd'), script, { mode: 0o755 });
    const host = new NodeHost();
    const parent = new Parent(host, [at('fluentd')]);
    await watched({ posFiles: [at('a.pos')], witness: at('w') }, parent, host);
    expect(readFileSync(at('words'), 'utf8')).toBe(`-I${at('w')}/ruby -renumerator ${at('w')}\n`);
  },
};

describe('no option is ignored:', () => {
  test.each(Object.entries(DECISIONS))('%s', async (name, value) => {
    const { policy } = await begun({ posFiles: [at('a.pos')], [name]: value });
    expect(policy).toHaveProperty(name, value);
  });

  test.each(Object.entries(EFFECTS))('%s', (_, holds) => holds());
});

test('the default quiet window is as long as in_tail needs to find a new file; one that is given stays', async () => {
  const conf = `<source>\n@type tail\npath /a\npos_file ${at('c.pos')}\nrefresh_interval 3m\n</source>\n`;
  writeFileSync(at('f.conf'), conf);
  const options = { fluentConf: at('f.conf') };
  expect((await begun(options)).policy.quiet).toBe(185_000);
  expect((await begun(options)).armed).toEqual(['nothing has moved for 3 min 5 s']);
  expect((await begun({ ...options, quiet: 1_000 })).policy.quiet).toBe(1_000);
  expect((await begun({ ...options, doneFile: at('done') })).policy.quiet).toBe('off');
  expect((await begun({ ...options, doneFile: at('done'), quiet: 1_000 })).policy.quiet).toBe(1_000);
  expect(await begun({ ...options, quiet: 'off' })).toMatchObject({ armed: [] });
});

test('a configuration without in_tail is drained by its parent only, for no pos file shows which Fluentd it is', async () => {
  writeFileSync(at('f.conf'), '<source>\n@type forward\n</source>\n');
  const options = { fluentConf: at('f.conf'), witness: 'off' };
  const why = `${at('f.conf')} has no in_tail source: nothing to watch. Give Fluentd a witness (`;
  await expect(watched(options)).rejects.toMatchObject({ message: expect.stringContaining(why), code: 4 });
  await watched(options, new Parent(new NodeHost(), ['touch', at('ran')]));
  expect(existsSync(at('ran'))).toBe(true);
});

test('an empty POSIDLE_DIR names no directory', async () => {
  vi.stubEnv('POSIDLE_DIR', '');
  const { found } = await planWatch(new NodeHost(), { posFiles: [at('a.pos')] }).finally(vi.unstubAllEnvs);
  expect(found.witness).toBeUndefined();
});

test('file events are asked for of the files that a glob matches', async () => {
  const watchFiles = vi.spyOn(NodeHost.prototype, 'watchFiles');
  for (const name of ['a.pos', 'b.pos', 'c.log']) writeFileSync(at(name), '');
  await watched({ posFiles: [at('*.pos')], startTimeout: 0 });
  expect(watchFiles.mock.calls[0]?.[0]).toEqual([at('a.pos'), at('b.pos')]);
});

describe('as the parent', () => {
  const shell = (script: string) => ['sh', '-c', script];
  const asParent = (script: string, report: Partial<WatchReporter>) => {
    const host = new NodeHost();
    const parent = new Parent(host, shell(script));
    const outcome = watched({ posFiles: [at('a.pos')] }, parent, host, { ...SILENT, ...report });
    return { parent, outcome };
  };

  test('a failure of posidle still lets the command end properly', async () => {
    const script = `trap 'echo SIGINT >${at('got')}; exit' INT; touch ${at('up')}; while :; do sleep 0.05; done`;
    const looked = () => {
      if (existsSync(at('up'))) throw new Error('a bug');
    };
    const { outcome } = asParent(script, { looked });
    await expect(outcome).rejects.toThrow('a bug');
    expect(readFileSync(at('got'), 'utf8')).toBe('SIGINT\n');
  });

  test('the end is reported before what is left of the command is killed, and its exit code is kept', async () => {
    const script = `sleep 300 & echo $! >${at('pid')}; until [ -e ${at('seen')} ]; do sleep 0.05; done; exit 7`;
    const looked = () => writeFileSync(at('seen'), '');
    const left = () => Number(readFileSync(at('pid'), 'utf8'));
    const told: unknown[] = [];
    const ended = async ({ end }: Outcome) => void told.push(end, isAlive(left()));
    const { parent, outcome } = asParent(script, { looked, ended });
    expect(await outcome).toMatchObject({ end: 'ended-by-itself' });
    expect(told).toEqual(['ended-by-itself', true]);
    expect(await parent.exitCode).toBe(7);
    await until('the rest is gone', () => !isAlive(left()));
  });
});

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

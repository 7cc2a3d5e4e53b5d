import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { type Armed, play } from '../situations/play.ts';
import type { Deed, Situation } from '../situations/situation.ts';
import { SITUATIONS } from '../situations/table.ts';
import { DRAINED, onFluentd, SOON, test } from '../support/delivery.ts';
import type { Site } from '../support/delivery-site.ts';
import { freePort } from '../support/free-port.ts';
import { NEWEST } from '../support/real-fluentd.ts';

const TRIGGERS = ['done-file', 'done-process', 'http', 'SIGTERM', 'quiet'] as const;
type Trigger = (typeof TRIGGERS)[number];

const named = (name: string) => SITUATIONS.find((one) => one.name === name) as Situation;
const FOUNDING: Situation = {
  ...named('burst'),
  name: "the founding article's Job, a line from time to time",
  deeds: Array.from({ length: 20 }).flatMap((): readonly Deed[] => [
    ['pause', 0.15],
    ['write', 'app.log', 1],
  ]),
};

/** The options that arm a trigger, and what main's end does then. */
async function armed(trigger: Trigger, site: Site): Promise<Armed | undefined> {
  switch (trigger) {
    case 'done-file':
      return undefined;
    case 'quiet':
      return { args: ['--quiet', '3s'], end: () => undefined };
    case 'done-process': {
      const script = join(site.dir, 'main.sh');
      writeFileSync(script, 'sleep 1000');
      const main = spawn('sh', [script], { stdio: 'ignore' });
      return {
        args: ['--done-process', `^sh ${script}$`],
        begin: (posidle) => posidle.logged(/posidle sees main's process/),
        end: () => void main.kill('SIGKILL'),
      };
    }
    case 'http': {
      const at = `127.0.0.1:${await freePort()}`;
      const end = () => void fetch(`http://${at}/quitquitquit`, { method: 'POST' });
      return { args: ['--listen', at, '--quit-token', 'none'], end };
    }
    case 'SIGTERM':
      return { args: ['--grace', '100s'], end: (posidle) => posidle.kill('SIGTERM') };
  }
}

const ALL = [
  ...TRIGGERS.map((trigger) => ({ trigger, situation: named('new-file') })),
  { trigger: 'quiet' as const, situation: FOUNDING },
];

onFluentd([NEWEST], (version) => {
  test.for(ALL)('by $trigger nothing is lost: $situation.name', async ({ situation, trigger }, { site }) => {
    // posidle as the container's first process: the kubelet sends it SIGTERM.
    const road = trigger === 'SIGTERM' ? 'run' : 'watch';
    const ended = await play(site, situation, { version, road, trigger: await armed(trigger, site) });
    // SIGTERM does not say that main has ended.
    const doubted = { outcome: 'unproven', doubts: { count: 1, worst: [{ kind: 'main-may-run' }] } };
    const told = trigger === 'SIGTERM' ? { lost: 0, code: 3, outcome: doubted } : DRAINED;
    expect(ended).toMatchObject({ ...told, outcome: { ...told.outcome, end: 'stopped', trigger } });
    expect(ended.seconds).toBeLessThan(SOON);
  });
});

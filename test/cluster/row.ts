import { beforeEach, describe, expect, inject, test } from 'vitest';
import type { Story } from './bench/scenarios.ts';
import { ASLEEP } from './bench/strategies.ts';
import { PATIENCE } from './placement.ts';
import type { Report } from './play.ts';
import { playStory } from './play-story.ts';
import { minorVersion } from './policy.ts';

/** The exit code of a container that was killed. */
const SIGKILL = 137;

export interface Row extends Story {
  /** The first minor version of Kubernetes on which it can be played. */
  readonly since?: number;
  /** posidle cannot see this mistake, and says `drained`. The reason why. */
  readonly unseen?: string;
}

/** Two tables in two files run side by side. */
export function testRows(title: string, rows: readonly Row[]): void {
  describe(title, { concurrent: true }, () => {
    beforeEach(({ skip }) => skip(inject('noCluster') !== '', inject('noCluster')));

    test.for(rows)('$title', async (row, { skip }) => {
      const { since = 0 } = row;
      skip(since > (await minorVersion()), `it needs Kubernetes 1.${since}`);
      await playRow(row);
    });
  });
}

/** Plays it, and expects what the row tells. Never is `drained` said over a lost line, and no line is lost in silence. */
export async function playRow(row: Row): Promise<void> {
  const { report, written, lost } = await playStory(row, ASLEEP);
  const { told = {} } = row;
  const { posidle, fluentd } = report.containers;
  const message = posidle?.message ?? '';
  const { outcome, end, lines } = wordIn(message);
  const seen = `${lost} lines are lost: ${JSON.stringify({ tail: report.tail, posidle, fluentd })}`;
  if (lost > 0 && row.unseen === undefined) {
    expect(outcome, seen).toMatch(/^(not-drained|unproven)$/);
    expect(message, seen).toMatch(told.message ?? '');
  }
  expect(outcome, seen).toMatch(told.outcome ?? /^drained$/);
  expect(end, seen).toMatch(told.end ?? (told.outcome === undefined ? /^left-to-kubelet$/ : /./));
  if (told.read !== undefined) expect(lines, seen).toBe(told.read);
  expect(told.codes ?? [0], seen).toContain(posidle?.code);
  expect(lost, seen).toBeGreaterThanOrEqual(0);
  expect(lost, seen).toBeLessThanOrEqual(told.lost ?? 0);
  expect(written, seen).toBeGreaterThanOrEqual(told.written ?? 0);
  expect(report.tail, seen).toBeLessThan(told.within ?? PATIENCE);
  if (told.kill === 'certain') expect(fluentd?.code, seen).toBe(SIGKILL);
  else if (told.kill === undefined) expect(fluentd?.code, seen).not.toBe(SIGKILL);
  expect(told.restarts ?? [0], seen).toContain(fluentd?.restarts);
  expectLastLine(report, { outcome, end });
}

/** Nobody logs that a drain was cut off. */
function expectLastLine({ containers: { posidle } }: Report, { outcome, end }: Word): void {
  if (posidle === undefined || posidle.log === '' || end === 'none') return;
  const said = end === 'no-fluentd' ? `exit code ${posidle.code}` : outcome.replace('-', ' ');
  expect(posidle.log.trimEnd().split('\n').at(-1)).toContain(said);
}

interface Word {
  readonly outcome: string;
  readonly end: string;
  readonly lines?: number;
}

function wordIn(message: string): Word {
  const none = { outcome: 'none', end: 'none' };
  return message.startsWith('{') ? { ...none, ...JSON.parse(message) } : none;
}

import { TESTED_VERSIONS } from '../support/real-fluentd.ts';
import type { Entry, Road, Situation, Stage } from './situation.ts';
import { BUFFERED } from './table/buffered.ts';
import { FOUND } from './table/found.ts';
import { KEPT } from './table/kept.ts';
import { PARSED } from './table/parsed.ts';
import { READING } from './table/read.ts';
import { SENT } from './table/sent.ts';
import { STOPPED } from './table/stopped.ts';

const BY_STAGE: Readonly<Record<Stage, readonly Situation[]>> = {
  found: FOUND,
  read: READING,
  parsed: PARSED,
  kept: KEPT,
  buffered: BUFFERED,
  sent: SENT,
  stopped: STOPPED,
};

/** Every set-up in which a line is in danger, by the stage of its way. */
export const SITUATIONS: readonly Entry[] = Object.entries(BY_STAGE).flatMap(([stage, situations]) =>
  situations.map((one) => ({ ...one, stage: stage as Stage })),
);

const OLDER = TESTED_VERSIONS.slice(0, -1);
const OLDER_FOR: Readonly<Record<NonNullable<Situation['on']>, readonly string[]>> = {
  newest: [],
  'oldest and newest': OLDER.slice(0, 1),
  'not the oldest': OLDER.filter((version) => version !== '1.14.6'),
};

/** The newest tested version, and one of the older ones that it is for: each of them is on another road than the newest. */
export function versionsOf({ name, on }: Situation): readonly string[] {
  const older = on === undefined ? OLDER : OLDER_FOR[on];
  return [...older.filter((_, at) => at === numberOf(name) % older.length), ...TESTED_VERSIONS.slice(-1)];
}

/** Of the name alone: a row keeps its version when others come and go. */
function numberOf(name: string): number {
  return name.split('').reduce((sum, letter) => sum + letter.charCodeAt(0), 0);
}

/** Each road is taken on one version at least. */
const ROADS: Readonly<Record<string, Road>> = { '1.14.6': 'watch', '1.18.0': 'run', '1.19.4': 'run' };

export function roadOn(version: string, { roads }: Situation): Road {
  const road = ROADS[version] ?? 'drain';
  return roads === undefined || roads.includes(road) ? road : (roads[0] ?? road);
}

import { BETWEEN, inTurn, OLDEST_AND_NEWEST, TESTED_VERSIONS } from '../support/real-fluentd.ts';
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

const WITHOUT_OLDEST = TESTED_VERSIONS.filter((version) => version !== '1.14.6');
const VERSIONS: Readonly<Record<NonNullable<Situation['on']>, readonly string[]>> = {
  newest: TESTED_VERSIONS.slice(-1),
  'oldest and newest': OLDEST_AND_NEWEST,
  'not the oldest': WITHOUT_OLDEST,
};

/** The tested versions that it is for. Those between the oldest and the newest take the situations in turn: they play the same road. */
export function versionsOf({ name, on }: Situation): readonly string[] {
  const all = on === undefined ? TESTED_VERSIONS : VERSIONS[on];
  const turn = SITUATIONS.findIndex((one) => one.name === name);
  return all.filter((version) => !BETWEEN.includes(version) || inTurn(BETWEEN, turn).includes(version));
}

/** Each road is taken on one version at least. */
const ROADS: Readonly<Record<string, Road>> = { '1.14.6': 'watch', '1.18.0': 'run', '1.19.4': 'run' };

export function roadOn(version: string, { roads }: Situation): Road {
  const road = ROADS[version] ?? 'drain';
  return roads === undefined || roads.includes(road) ? road : (roads[0] ?? road);
}

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { NEWEST } from '../support/real-fluentd.ts';
import { storyOf } from './in-pod.ts';
import { planOf } from './simulated.ts';
import type { Entry } from './situation.ts';
import { SITUATIONS } from './table.ts';

export const PAGE = 'test/situations/README.md';
const MEASURED = 'test/situations/alone.json';

/** What became of the lines without posidle. */
export interface Alone {
  readonly lost: number;
  readonly written: number;
}

type ByName = Readonly<Record<string, Alone>>;

export function measuredAlone(): ByName {
  return existsSync(MEASURED) ? JSON.parse(readFileSync(MEASURED, 'utf8')) : {};
}

export function writePage(alone: ByName): void {
  const lines = SITUATIONS.flatMap(({ name }) => {
    const { lost, written } = alone[name] ?? {};
    return lost === undefined ? [] : [`  "${name}": { "lost": ${lost}, "written": ${written} }`];
  });
  writeFileSync(MEASURED, `{\n${lines.join(',\n')}\n}\n`);
  writeFileSync(PAGE, pageOf(alone));
}

/** The track record, from the table and from what was measured. */
export function pageOf(alone: ByName): string {
  const fooled = SITUATIONS.filter(({ once }) => once !== undefined).length;
  const isLost = ({ name }: Entry) => (alone[name]?.lost ?? 0) > 0;
  const isSaved = (one: Entry) => one.lost === undefined && one.outcome !== 'drained or told' && isLost(one);
  const head = [
    'a line is in danger where it is',
    'situation',
    'what happens',
    'alone',
    'with posidle',
    'Fluentd',
    'also in',
    'held since',
    'posidle once said',
  ];
  return [
    '# Track record',
    '',
    'For everybody who asks why posidle should be trusted.',
    '',
    'Each row is a situation in which a line is in danger. One command plays it in half a minute, and shows the lines on their way: `npm run situation -- new-file` (in a clone on Linux, after `npm ci` and `.ci/install-fluentd`).',
    'The end-to-end tests play each row on real Fluentd, on the versions of its column, with posidle as its parent (`run`), beside it (`watch`) and as in a Pod (`drain`).',
    `Fluentd alone loses lines in ${SITUATIONS.filter(isLost).length} of these ${SITUATIONS.length}. With posidle ${SITUATIONS.filter(isSaved).length} of these lose none; of the others it names what was lost. Of ${fooled} posidle once said something wrong.`,
    '',
    `- "alone": how many of the written lines Fluentd ${NEWEST} loses without posidle, in one run, bold if any. It is stopped when main has ended, as the kubelet does it.`,
    '- "with posidle": the outcome, what it names, and how many lines are lost. "drained or told: late.log": the moment decides whether lines are lost, and then the outcome names that file or output.',
    '- "also in": the other worlds that play it, the simulation and a real Pod.',
    '- "Fluentd": "two" is the newest tested version, and in turn one of the older ones.',
    '- "held since": the commit since which a test holds the outcome.',
    '',
    '[The table](table.ts) makes this page, and [CONTRIBUTING.md](../../CONTRIBUTING.md) says how to add a row.',
    '',
    row(head),
    `${'|---'.repeat(head.length)}|`,
    ...SITUATIONS.map((one) => row(cellsOf(one, alone[one.name]))),
    '',
  ].join('\n');
}

const row = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;

function cellsOf(situation: Entry, alone: Alone | undefined): readonly string[] {
  const { stage, name, what, outcome = 'drained', told, lost = 0, on = 'two', since, once = '' } = situation;
  const worlds = [
    ...(planOf(situation) === undefined ? [] : ['simulation']),
    ...(storyOf(situation) === undefined ? [] : ['Pod']),
  ];
  const loss = lost === 0 ? '' : lost === 'some' ? ', some lost' : `, ${lost} lost`;
  const word = outcome === 'drained' || told === undefined ? outcome : `${outcome}: ${told}`;
  const without =
    alone === undefined ? '–' : alone.lost === 0 ? '0' : `**${alone.lost}** of ${alone.written}`;
  const safe = (text: string) => text.replaceAll('<', '\\<');
  return [stage, `\`${name}\``, safe(what), without, safe(word) + loss, on, worlds.join(', '), since, once];
}

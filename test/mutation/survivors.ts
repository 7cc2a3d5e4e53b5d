const HERE = 'a file at its path has a position and a size';
const OFTEN = 'only how often other things can happen meanwhile';
const SAME = 'the same object only saves memory; one with the same values is as good';
const ANEW = 'without it every look is judged anew, which means the same';
const TIME = 'only saves time';

/** Mutants that live: in which file, what only their line (with the one before) holds, and why. What lives and is not listed here wants a test. */
export const SURVIVORS: readonly (readonly [file: string, code: string, why: string])[] = [
  ['drain/deadlines.ts', 'Math.max(1, ', 'below a limit bytes are left only of files that went away'],
  ['drain/moves.ts', 'size ?? 1', 'a file with an unfinished line has a size'],
  ['drain/outcome.ts', 'durations.stopping ?? 1', 'told in tenths of a second'],
  ['drain/outcome.ts', 'durations.killing ?? 1', 'told in tenths of a second'],
  ['observe/abandoned.ts', '?.born ?? 1', 'a file was made later than a millisecond after 1970'],
  ['observe/abandoned.ts', 'reached ?? 1', 'what has a position and a size has reached a position'],
  ['observe/abandoned.ts', 'whole === null && ', 'what is unknown makes a rest below zero, which is none'],
  ['observe/abandoned.ts', 'position === null && ', HERE],
  ['observe/abandoned.ts', 'size === null && ', HERE],
  ['observe/output-account.ts', 'space ?? 101', 'no buffer has more than 100 percent free'],
  ['observe/judge-entry.ts', 'known?.position !== position', SAME],
  ['observe/judge-entry.ts', 'known.size !== size', SAME],
  ['observe/judge-entry.ts', 'known.movedAt !== movedAt', SAME],
  ['observe/judge-entry.ts', 'known.leftSince !== leftSince', SAME],
  ['observe/judge-entry.ts', 'known.neverSeen !== neverSeen', SAME],
  ['observe/gone-files.ts', 'lostOf(file) >= 0', 'a loss of no bytes is told by nobody'],
  ['observe/gone-files.ts', 'lostOf(file) > 0);\n  if (false) return [];', TIME],
  ['observe/gone-files.ts', 'now < (size ?? 1)', 'of a file of unknown size no rest is known'],
  ['observe/gone-now.ts', 'before.whole ?? 1', 'of a file of unknown size no rest is known'],
  ['observe/gone-now.ts', 'restOf(known) >= 0', 'a loss of no bytes is told by nobody'],
  ['observe/gone-now.ts', 'known.reached ?? 1', 'what has a position and a size has reached a position'],
  ['observe/gone-now.ts', 'position === null && size', HERE],
  [
    'observe/gone-now.ts',
    'size <= whole',
    'as long as before, it was filled again between two looks: nothing shows what it held',
  ],
  ['observe/gone-now.ts', 'added.length === 0 && ', TIME],
  ['observe/gone-now.ts', 'memory.entries.size === 1', TIME],
  ['observe/gone-now.ts', 'memory.entries.has(file.key));\n  if (false) return [];', TIME],
  ['observe/gone-now.ts', 'const added = files;', 'an entry is forgotten when its path gets another one'],
  ['observe/memory.ts', 'yield 2', OFTEN],
  ['observe/memory.ts', 'surplus < 0', 'with no surplus nothing is forgotten either way'],
  ['observe/observe.ts', 'yield 2', OFTEN],
  ['observe/observe.ts', 'undiscovered.length - files.length', OFTEN],
  ['observe/observe.ts', 'b >= a', 'the same instant either way'],
  ['observe/observe.ts', 'previous === undefined', ANEW],
  ['observe/observe.ts', 'Portions<Observation> {\n  if (false)', ANEW],
  ['observe/output-account.ts', 'space: 101', 'more room than all is judged like all'],
  ['observe/output-ledger.ts', '101 : 0', 'more room than all is judged like all'],
  ['observe/output-ledger.ts', '100 : 1', 'less than a fifth is judged like none'],
  ['observe/output-ledger.ts', 'at === undefined && roomSince', 'no number is as great as none'],
  ['observe/workers.ts', 'workerReplaced: true,', 'is made anew at each look before anybody reads it'],
];

const ANEW = 'without it every look is judged anew, which means the same';

/** Known surviving mutants: the file, a text that only their line (with the one before) has, and the reason. Any other survivor needs a test. */
export const SURVIVORS: readonly (readonly [file: string, code: string, why: string])[] = [
  ['look/snapshot.ts', 'COARSEST_TICK', 'longer than any tick of a file system, either way'],
  ['drain/outcome.ts', 'durations.stopping ?? 1', 'told in tenths of a second'],
  ['drain/outcome.ts', 'durations.killing ?? 1', 'told in tenths of a second'],
  ['look/observe.ts', 'movedAt >= last', 'the same instant either way'],
  ['look/observe.ts', 'NO_MEMORY;\n  if (false)', ANEW],
];

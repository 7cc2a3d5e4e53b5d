const ANEW = 'without it every look is judged anew, which means the same';

/** Known surviving mutants: the file, a text that only their line (with the one before) has, and the reason. Any other survivor needs a test. */
export const SURVIVORS: readonly (readonly [file: string, code: string, why: string])[] = [
  ['look/snapshot.ts', 'COARSEST_TICK', 'longer than any tick of a file system, either way'],
  ['drain/transitions.ts', 'size ?? 1', 'a file with an unfinished line has a size'],
  ['drain/outcome.ts', 'durations.stopping ?? 1', 'told in tenths of a second'],
  ['drain/outcome.ts', 'durations.killing ?? 1', 'told in tenths of a second'],
  ['look/observe.ts', 'movedAt >= last', 'the same instant either way'],
  ['look/observe.ts', 'limits: Limits): Observation {\n  if (false)', ANEW],
];

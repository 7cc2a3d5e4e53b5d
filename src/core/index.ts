export type { Step } from './drain/moves.ts';
export { exitCodeOf, type Outcome, outcomeOf } from './drain/outcome.ts';
export { DEFAULT_POLICY, type Policy } from './drain/policy.ts';
export { begin, type State, type StateName } from './drain/state.ts';
export { step } from './drain/step.ts';
export { type FileState, type Lag, lagOf } from './look/lag.ts';
export type { Snapshot } from './look/snapshot.ts';
export { type Observation, observe } from './observe/observation.ts';
export { latestEntries, type PosFile, type PositionEntry, parsePosFile } from './pos-file/pos-file.ts';

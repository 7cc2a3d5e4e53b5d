export { type FileState, type Lag, lagOf } from './look/lag.ts';
export type { Snapshot } from './look/snapshot.ts';
export type { Step } from './moves.ts';
export { type Observation, observe } from './observe/observation.ts';
export { exitCodeOf, type Outcome, outcomeOf } from './outcome.ts';
export { DEFAULT_POLICY, type Policy } from './policy.ts';
export { latestEntries, type PosFile, type PositionEntry, parsePosFile } from './pos-file/pos-file.ts';
export { begin, type State, type StateName } from './state.ts';
export { step } from './step.ts';

export { inspect, run, type WatchOptions, watch } from './api.ts';
export type { Outcome } from './core/drain/outcome.ts';
export type { Trigger } from './core/drain/state.ts';
export type { InspectedEntry, InspectedPosFile, Inspection } from './core/inspect/inspection.ts';
export { type PosFile, type PositionEntry, parsePosFile } from './core/pos-file/pos-file.ts';
export { UsageError } from './tasks/usage-error.ts';

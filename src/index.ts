export { inspect, run, type WatchOptions, watch } from './api.ts';
export { UsageError } from './commands/usage-error.ts';
export type { InspectedEntry, InspectedPosFile, Inspection } from './core/inspection.ts';
export type { Outcome } from './core/outcome.ts';
export type { Trigger } from './core/state.ts';

import type { Millis } from '../text/units.ts';

/**
 * What a trigger says of main. `ended`: it has ended (its process may come back). `stopped`: the caller says that it has ended or writes no
 * more. `guess`: posidle itself thinks so, and may take that back. `nothing`: main may still write.
 */
export type OfMain = 'ended' | 'stopped' | 'guess' | 'nothing';

/** The kinds of requests from outside to begin the drain. `isTimed`: the grace period counts from it. */
export const DRAIN_REQUESTS = {
  SIGTERM: { text: 'posidle got SIGTERM', main: 'nothing', isTimed: true },
  SIGINT: { text: 'posidle got SIGINT', main: 'nothing', isTimed: true },
  SIGQUIT: { text: 'posidle got SIGQUIT', main: 'nothing', isTimed: true },
  'done-file': { text: 'the done file is there', main: 'ended', isTimed: false },
  heartbeat: { text: 'main no longer refreshes its heartbeat file', main: 'stopped', isTimed: false },
  http: { text: 'POST /quitquitquit came', main: 'stopped', isTimed: false },
  'main-ended': { text: 'main has ended', main: 'ended', isTimed: true },
  drain: { text: 'posidle drain was called, and main may still run', main: 'nothing', isTimed: true },
} as const satisfies Readonly<Record<string, { text: string; main: OfMain; isTimed: boolean }>>;

/** A request from outside to begin the drain. Unlike quiet it is certain. Only main takes one back, when it refreshes its file again. */
export interface DrainRequest {
  readonly by: keyof typeof DRAIN_REQUESTS;
  readonly at: Millis;
}
